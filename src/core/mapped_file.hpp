// A file as memory that is read only; the system reads what is touched, and lets go of it where memory is short.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace textmargin {

class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {  // in UTF-8
        if (!open(path)) throw std::invalid_argument(path + " cannot be opened");
        if (size_ > 0 && !data_) throw std::invalid_argument(path + " cannot be mapped to memory");
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile() {
        if (data_) close();
    }
    const void* data() const { return data_; }
    size_t size() const { return size_; }

  private:
    void* data_ = nullptr;
    size_t size_ = 0;

    // Whether there is such a file; `data_` stays null where it is empty, or there is no room for it.
    bool open(const std::string& path);
    void close();
};

#if defined(_WIN32)

inline bool MappedFile::open(const std::string& path) {
    const int n = MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, nullptr, 0);
    if (n <= 0) return false;
    std::wstring wide(size_t(n), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, wide.data(), n);
    const HANDLE file = CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) return false;
    LARGE_INTEGER size{};
    if (GetFileSizeEx(file, &size)) size_ = size_t(size.QuadPart);
    if (size_ > 0) {
        if (const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr)) {
            data_ = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
            CloseHandle(mapping);  // the view holds on to it
        }
    }
    CloseHandle(file);
    return true;
}

inline void MappedFile::close() { UnmapViewOfFile(data_); }

#else

inline bool MappedFile::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    if (file < 0) return false;
    struct stat about {};
    if (fstat(file, &about) == 0) size_ = size_t(about.st_size);
    if (size_ > 0) {
        void* found = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
        if (found != MAP_FAILED) data_ = found;
    }
    ::close(file);
    return true;
}

inline void MappedFile::close() { munmap(data_, size_); }

#endif

}  // namespace textmargin
