// Memory that grows without being copied, and that NumPy may own in the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace textmargin {

struct Free {
    void operator()(void* p) const { std::free(p); }
};

// An array of plain values, not set to anything.
template <class T>
class Buffer {
    std::unique_ptr<T[], Free> data_;
    size_t size_ = 0, room_ = 0;

  public:
    Buffer() = default;
    explicit Buffer(size_t n) { grow(n), size_ = n; }
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        data_ = std::move(other.data_);
        size_ = std::exchange(other.size_, 0), room_ = std::exchange(other.room_, 0);
        return *this;
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }

    void make_room(size_t n) {  // for so many in all
        if (n > room_) grow(std::max(n, room_ + room_ / 2));
    }
    template <class U>
    void append(const U* values, size_t n) {
        make_room(size_ + n);
        std::copy_n(values, n, data_.get() + size_);
        size_ += n;
    }
    std::unique_ptr<T[], Free> release() { return size_ = room_ = 0, std::move(data_); }

  private:
    void grow(size_t n) {
        const size_t bytes = std::max<size_t>(n, 1) * sizeof(T);
        void* more = std::realloc(data_.get(), bytes);  // which moves pages, not bytes
        if (!more) throw std::bad_alloc();
        (void)data_.release(), data_.reset(static_cast<T*>(more));
        room_ = n;
    }
};

}  // namespace textmargin
