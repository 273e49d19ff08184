# Everything a developer runs. `make help` lists the targets.
#
# Two commands do all the set-up on a fresh machine (Rust, Python >= 3.10, a C compiler):
#   make demo    builds the package into .venv and runs the main examples
#   make test    runs all tests on the virtual GPU
# With COMPILER=clang, kernels are compiled by clang, and no package of NVIDIA's is installed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The compiler of CUDA C++: nvrtc, or clang.
COMPILER ?= nvrtc
ifeq ($(COMPILER),clang)
export RTCG_COMPILER := clang
endif
# The interpreter that the GPU targets use; override it to use one that has the wheel installed.
GPU_PYTHON ?= $(BIN)/python
# tools/build_backend.py calls maturin.
export MATURIN_NO_MISSING_BUILD_BACKEND_WARNING := 1

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.hpp' -o -name '*.h' -o -name '*.cuh' -o -name '*.jsonl') Cargo.toml Cargo.lock
PYTHON_SOURCES := $(shell find python distributions -type f -not -name '*.so' -not -path '*/__pycache__/*')

.PHONY: help docs apps array-api libcuda libnccl opencl opencl-suite opencl-bench opencl-record opencl-clangs opencl-packages opencl-programs dask-suite compat upstream demo test test-all test-sample test-rust test-python check lint stubs aarch64 aarch64-test mutants bench build-tests gpu-test bench-tuning gpu-bench-tuning gpu-bench gpu-soak mpi-suite soak wheel release package notices fuzz clean

help:
	@grep -E '^#   make' Makefile | sed 's/^#   //'
	@echo "make check   tests, a sample of test-all, and linters: what CI runs"
	@echo "make test-all, make test-sample   all variants of the tests; a sample of them (SAMPLE=any text chooses it)"
	@echo "make opencl  an OpenCL platform: dist/opencl/libOpenCL.so.1, and rtcg.icd for loaders"
	@echo "make opencl-suite   PyOpenCL's own tests on that platform, with the original PyOpenCL"
	@echo "make mpi-suite   mpi4py's own tests of buffers with device arrays, on MPICH and Open MPI"
	@echo "make dask-suite   Dask's own tests of CuPy arrays, with arrays of rtcg"
	@echo "make opencl-programs, make opencl-packages   PyOpenCL's examples and packages that use it, there"
	@echo "make opencl-clangs  the platform's own tests with each clang that docs/opencl.md lists"
	@echo "make opencl-record   launches recorded on PoCL, replayed there"
	@echo "make opencl-bench    PyOpenCL there, on PoCL and on Intel's platform"
	@echo "make libcuda the virtual GPU as dist/libcuda/libcuda.so.1"
	@echo "make libnccl the virtual NCCL as dist/libnccl/libnccl.so.2, for programs on that library"
	@echo "make apps    the applications, each with its check (docs/applications.md)"
	@echo "make compat  runs cuda-python, numba-cuda, stumpy, cudarc, nccl4py and packages of compat/clients.py there"
	@echo "make bench   benchmarks on the virtual GPU, beside PoCL, NumPy and gcc"
	@echo "make wheel   builds dist/*.whl"
	@echo "make release builds, checks and tests all that is published (docs/contributing/releases.md); STEPS=\"build check\" for some steps"
	@echo "make package   a dry run of publishing all crates; PACKAGE_OPTIONS=--allow-dirty before a commit"
	@echo "make docs    the documentation site, in dist/docs"
	@echo "make notices writes THIRD_PARTY_NOTICES"
	@echo "make aarch64, make aarch64-test   checks the code for 64-bit Arm; tests it on an emulated one"
	@echo "make upstream                   fetch PyCUDA's own programs, and run them (docs/upstream-programs.md)"
	@echo "make bench-tuning DATA=FOLDER   search strategies on recorded spaces, beside Kernel Tuner"
	@echo "make gpu-bench-tuning DATA=FOLDER   tune kernels of T1 files on a real GPU, beside Kernel Tuner"
	@echo "make gpu-test, make gpu-bench   tests and benchmarks on a real GPU"
	@echo "make mutants plants the faults of tests/mutants, one at a time, and asks whether tests catch them; MUTANTS=names"
	@echo "make soak    a million operations of 8 threads; SOAK=--seconds=60 for a minute"
	@echo "make gpu-soak   a minute of the same on a real GPU under compute-sanitizer"
	@echo "make fuzz    fuzzes each reader of foreign input: PTX, images, OpenCL programs, files of matrices, kernels (FUZZ_SECONDS=600 each, FUZZ_FINDS=folder)"

# -- set-up -----------------------------------------------------------------------------------

# What `make demo` needs, and no more.
$(VENV)/.requirements-demo: requirements.txt requirements-$(COMPILER).txt
	@echo "== $(VENV): installing maturin, NumPy and $(COMPILER) (some 370 MB; waits for the package index)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-$(COMPILER).txt
	@touch $@

$(VENV)/.requirements: $(VENV)/.requirements-demo requirements-dev.txt
	@echo "== $(VENV): installing what tests and linters need (some 1 GB; waits for the package index)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# With cargo's progress: building takes two to four minutes the first time.
$(VENV)/.built: $(VENV)/.requirements-demo pyproject.toml $(RUST_SOURCES) $(PYTHON_SOURCES)
	@echo "== building the native module (Rust; minutes the first time, most of them for Cranelift)"
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release
	@echo "== installing the names of pycuda, copperhead and skcuda over rtcg"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation ./distributions/rtcg-pycuda ./distributions/rtcg-copperhead ./distributions/rtcg-skcuda
	@echo "== compiling the kernels of array operations ahead ($(COMPILER), less than a minute)"
	RTCG_VIRTUAL_DEVICES=1 RTCG_JIT_TIER=first PYCUDA_CACHE_DIR=target/prebuilt \
		$(BIN)/python -m rtcg prepare --programs python/rtcg/prebuilt.ptx
	@touch $@

# The package with all that developers use beside it.
READY := $(VENV)/.built $(VENV)/.requirements

# -- what users run ---------------------------------------------------------------------------

demo: $(VENV)/.built
	@echo "== a first program: examples/demo.py"
	@$(BIN)/python examples/demo.py
	@echo "== a kernel with shared memory: examples/matmul_tiled.py"
	@$(BIN)/python examples/matmul_tiled.py
	@echo
	@echo "rtcg is in $(VENV). What to do next:"
	@echo "  $(BIN)/python your_program.py               runs your own program; 'import pycuda' and 'import rtcg' both work"
	@echo "  RTCG_CHECK=1 $(BIN)/python your_program.py  finds out-of-bounds accesses, races and uninitialised reads, on the"
	@echo "                                                 virtual GPU (RTCG_LIBCUDA=none RTCG_VIRTUAL_DEVICES=1 selects it)"
	@echo "  $(BIN)/python -m rtcg                       says which devices and compilers were found"
	@echo "  make wheel                                     builds packages for other environments"
	@echo "  docs/start/first-program.md, docs/guide.md     the first pages to read"

# Every application compares its small size with its oracle.
apps: $(READY)
	for app in apps/*/__main__.py; do name=$$(basename $$(dirname $$app)); echo "apps.$$name"; \
		RTCG_VIRTUAL_DEVICES=$${RTCG_VIRTUAL_DEVICES-1} $(BIN)/python -m apps.$$name --check || exit 1; done

wheel: $(VENV)/.built opencl
	$(BIN)/maturin build --release --strip --out dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w dist ./distributions/rtcg-pycuda ./distributions/rtcg-copperhead ./distributions/rtcg-skcuda
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation -w dist ./distributions/rtcg-icd

# What is published, in dist/release/packages, tested with the interpreters RELEASE_PYTHONS.
release: dist/release/venv/.requirements $(READY)
	RELEASE_PYTHONS="$(or $(RELEASE_PYTHONS),$(PYTHON))" dist/release/venv/bin/python tools/release.py $(STEPS)

# The packages of all published crates, each built from itself and the packages that it depends on; uploads nothing.
# Cargo knows one profile for that, dev, in target/debug. Nothing that is built runs, so it is made the cheapest to build.
package: export CARGO_PROFILE_DEV_OPT_LEVEL = 0
package: export CARGO_PROFILE_DEV_DEBUG = false
package: export CARGO_INCREMENTAL = 0
package:
	cargo publish --dry-run --workspace --locked $(PACKAGE_OPTIONS)

notices: dist/release/venv/.requirements
	dist/release/venv/bin/python tools/notices.py

dist/release/venv/.requirements: requirements-release.txt
	mkdir -p dist/release
	test -x dist/release/venv/bin/python || $(PYTHON) -m venv dist/release/venv
	dist/release/venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-release.txt
	@touch $@

# The virtual GPU as libcuda.so.1, for programs that know only NVIDIA's driver (docs/libcuda.md).
libcuda:
	cargo build --release -p rtcg-libcuda
	mkdir -p dist/libcuda
	cp --remove-destination target/release/librtcg_libcuda.so dist/libcuda/libcuda.so.1
	ln -sf libcuda.so.1 dist/libcuda/libcuda.so

# NCCL's functions on that library's devices, as libnccl.so.2 (docs/libcuda.md).
libnccl:
	cargo build --release -p rtcg-libnccl
	mkdir -p dist/libnccl
	cp --remove-destination target/release/librtcg_libnccl.so dist/libnccl/libnccl.so.2

# The devices of rtcg as an OpenCL platform (docs/opencl.md): for loaders librtcg_opencl.so with rtcg.icd, and
# libOpenCL.so.1 for programs without a loader. Programs that run keep the files that they have.
opencl:
	mkdir -p dist/opencl
	RTCG_OPENCL_SONAME=libOpenCL.so.1 cargo rustc --release -p rtcg-libopencl -- \
		-C linker=$(CURDIR)/crates/libopencl/versioned-cc
	strip --strip-unneeded -o dist/opencl/.new target/release/librtcg_libopencl.so
	mv dist/opencl/.new dist/opencl/libOpenCL.so.1
	ln -sf libOpenCL.so.1 dist/opencl/libOpenCL.so
	cargo build --release -p rtcg-libopencl
	strip --strip-unneeded -o dist/opencl/.new target/release/librtcg_libopencl.so
	mv dist/opencl/.new dist/opencl/librtcg_opencl.so
	echo "$(CURDIR)/dist/opencl/librtcg_opencl.so" > dist/opencl/rtcg.icd

# The documentation site, which needs no server: open dist/docs/index.html.
docs: dist/docs-venv/.requirements $(READY)
	dist/docs-venv/bin/python tools/docs.py

dist/docs-venv/.requirements: requirements-docs.txt
	mkdir -p dist
	test -x dist/docs-venv/bin/python || $(PYTHON) -m venv dist/docs-venv
	dist/docs-venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $@

# -- tests ------------------------------------------------------------------------------------

# Ends with the CPU seconds of each subsystem beside its budget (docs/contributing/tests.md) and with pytest's summary.
test: export RTCG_TEST_TIMES = 1
test: test-rust test-python

# All variants, where `make test` takes some: whole products of dtypes and layouts, more drawn programs.
test-all:
	RTCG_TEST_ALL=1 $(MAKE) test

# A part of test-all that the commit's hash chooses, so that each commit tries others.
test-sample: $(READY)
	$(BIN)/python tests/sample.py $(or $(SAMPLE),$(shell git rev-parse HEAD 2>/dev/null || echo none))

# Tests run through a program that notes their CPU time.
CARGO_RUNNER := CARGO_TARGET_$(shell rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER

build-tests: $(VENV)/.requirements
	cargo build --release -p rtcg-libcuda -p rtcg-libnccl
	$(MAKE) opencl
	cargo test --release --workspace --exclude rtcg-python --no-run

test-rust: build-tests
	rm -rf target/test-times
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(CARGO_RUNNER)="$(CURDIR)/$(BIN)/python $(CURDIR)/tests/cpu_times.py run" \
		cargo test --release --workspace --exclude rtcg-python
	cargo test --release -q -p rtcg-driver --no-default-features --lib virtual_gpu

# Compilers take turns on one processor, so several processes share the tests.
TEST_PROCESSES ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 8 ? n : 8)))

test-python: $(READY)
	$(BIN)/python -m pytest tests/python -n $(TEST_PROCESSES) --dist worksteal $(if $(RTCG_TEST_ALL),,--few-variants)

# Crates that are not published, whose documentation is no page of anybody's.
UNPUBLISHED := rtcg-conformance rtcg-documentation rtcg-libcuda rtcg-libnccl rtcg-libopencl rtcg-oracle rtcg-python xtask

# Rustdoc needs what clippy has checked. With clippy's wrapper and arguments cargo finds it, and checks nothing twice.
CLIPPY_DRIVER := $(wildcard $(shell rustc --print sysroot)/bin/clippy-driver)
AFTER_CLIPPY := $(if $(CLIPPY_DRIVER),RUSTC_WORKSPACE_WRAPPER=$(CLIPPY_DRIVER) CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__)

lint: $(VENV)/.requirements
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	cargo clippy --release -p rtcg --no-default-features -- -D warnings
	$(AFTER_CLIPPY) RUSTDOCFLAGS="-D warnings" cargo doc --release --no-deps --workspace $(addprefix --exclude ,$(UNPUBLISHED))
	cargo run -q --release -p xtask -- cycles --check
	$(BIN)/python tools/notices.py --check
	$(BIN)/ruff check python tests examples apps benches tools
	$(BIN)/ruff format --check python tests examples apps benches tools

stubs: $(READY)
	$(BIN)/python -m mypy.stubtest rtcg pycuda --mypy-config-file pyproject.toml --ignore-missing-stub --ignore-disjoint-bases --allowlist python/stubtest-allowlist.txt

# The code for 64-bit Arm compiles; skipped where rustup has no standard library for it.
aarch64:
	@if rustup target add aarch64-unknown-linux-gnu; then \
		cargo check --target aarch64-unknown-linux-gnu -p rtcg -p rtcg-libcuda; \
	else echo "aarch64 is not checked: its standard library is not to be had"; fi

# Tests of the compiler as a program for 64-bit Arm, on an emulated processor; needs the packages
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
aarch64-test: aarch64
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -R 0x4000000000 -L /usr/aarch64-linux-gnu" \
	cargo test --release --target aarch64-unknown-linux-gnu -p rtcg-vgpu -p rtcg-vgpu-jit --test integration -- recorded:: jit_basic:: direct::

# Each step is timed; the last one, whose summary ends the log, prints where the minutes went.
TIMED_STEP := $(PYTHON) tests/cpu_times.py step
check:
	rm -f target/check-steps.jsonl
	$(TIMED_STEP) lint $(MAKE) lint
	$(TIMED_STEP) "build, native module" $(MAKE) $(VENV)/.built
	$(TIMED_STEP) stubs $(MAKE) stubs aarch64
	$(TIMED_STEP) "build, Rust tests" $(MAKE) build-tests
	$(TIMED_STEP) "Rust tests" $(MAKE) test-rust
	$(TIMED_STEP) "sample of test-all" $(MAKE) test-sample
	RTCG_TEST_TIMES=1 $(TIMED_STEP) "Python tests" $(MAKE) test-python

mutants: $(VENV)/.requirements
	cargo run -q --release -p xtask -- mutants $(MUTANTS)

dist/compat/venv/.requirements: compat/requirements.txt
	mkdir -p dist/compat
	test -x dist/compat/venv/bin/python || $(PYTHON) -m venv dist/compat/venv
	dist/compat/venv/bin/python -m pip install --quiet --disable-pip-version-check -r compat/requirements.txt
	@touch $@

# Upstream's programs that generate code, fetched from the package index and run unchanged.
upstream: .venv/.built
	.venv/bin/python tools/upstream_programs.py --run
	.venv/bin/python -m pytest -q tests/python/test_upstream_programs.py

# mpi4py's own tests with device arrays, on MPICH and Open MPI, 2 and 4 ranks; MPI_SUITE="--mpi mpich --ranks 2 test_rma"
# for some of them.
mpi-suite: $(READY)
	$(BIN)/python -m tests.mpi.suite $(MPI_SUITE)

# PyOpenCL's own tests, from its source distribution, cold and warm; SUITE="--cold-only test_bessel" for some of them.
opencl-suite: opencl
	$(PYTHON) -m tests.opencl.suite $(SUITE)

# Dask's own tests of CuPy arrays with arrays of rtcg; DASK_SUITE="-k linalg" for some of them.
dask-suite: $(READY)
	RTCG_VIRTUAL_DEVICES=$${RTCG_VIRTUAL_DEVICES-1} $(BIN)/python -m tests.dask.suite $(DASK_SUITE)

# Programs of PyOpenCL's examples, unchanged.
opencl-programs: opencl
	$(PYTHON) -m tests.opencl.programs $(PROGRAMS)

# The platform's own tests with each clang; CLANGS="0.13.0.post1 clang-14" for some of them.
opencl-clangs:
	$(PYTHON) -m tests.opencl.clangs $(CLANGS)

# Launches of upstream's tests and examples and of other packages, recorded on PoCL and replayed here.
opencl-record: opencl
	$(PYTHON) -m tests.opencl.record upstream $(RECORD)

# Tests of packages that use OpenCL, here and on PoCL (the package pocl-opencl-icd of Debian, or POCL_LIBRARY); writes
# no page without PACKAGES=--table.
opencl-packages: opencl
	$(PYTHON) -m tests.opencl.packages $(PACKAGES)

# COMPAT=--all runs all tests of numba-cuda; COMPAT=cudarc one suite; COMPAT="--sources FOLDER drjit" one of a checkout.
compat: libcuda libnccl dist/compat/venv/.requirements dist/compat/clients/.requirements
	dist/compat/venv/bin/python compat/run.py $(COMPAT)

# Packages whose own tests run (compat/clients.py). Those on PyCUDA import ours, from $(VENV), and some require a
# distribution of that name, so that they are installed without what they require.
dist/compat/clients/.requirements: compat/requirements-clients.txt compat/requirements-clients-alone.txt $(READY)
	mkdir -p dist/compat
	test -x dist/compat/clients/bin/python || $(PYTHON) -m venv dist/compat/clients
	dist/compat/clients/bin/python -m pip install --quiet --disable-pip-version-check -r compat/requirements-clients.txt
	dist/compat/clients/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		-r compat/requirements-clients-alone.txt
	echo "import site; site.addsitedir('$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')')" \
		> $$(dist/compat/clients/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/rtcg.pth
	@touch $@

# The public test suite of the Array API standard, which is no package of an index: a checkout of data-apis/array-api-tests
# with its submodules is given as ARRAY_API_TESTS. First calls compile kernels, for which the suite's deadline is short.
array-api: $(READY)
	test -d "$(ARRAY_API_TESTS)" || { echo "ARRAY_API_TESTS is no checkout of array-api-tests"; exit 2; }
	cd "$(ARRAY_API_TESTS)" && ARRAY_API_TESTS_MODULE=rtcg.array_api ARRAY_API_TESTS_VERSION=2024.12 \
		$(CURDIR)/$(BIN)/python -m pytest -p rtcg.autoinit array_api_tests --disable-deadline

fuzz: $(READY)
	$(BIN)/python fuzz/market.py $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1)
	cargo run --release -p rtcg-ptx --example fuzz_parser -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1)
	cargo run --release -p rtcg-tune --example fuzz_texts -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1) $(or $(FUZZ_FINDS),.)
	cargo run --release -p rtcg-cgen --example fuzz_templates -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1) $(or $(FUZZ_FINDS),.)
	cargo run --release -p rtcg-opencl-platform --example fuzz_pass -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1) $(or $(FUZZ_FINDS),.)
	RTCG_VIRTUAL_DEVICES=1 cargo run --release -p rtcg-opencl-platform --example fuzz_binary -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1) $(or $(FUZZ_FINDS),.)
	cargo run --release -p rtcg-vgpu --example fuzz_images -- $(or $(FUZZ_SECONDS),600) $(or $(FUZZ_SEED),1) $(or $(FUZZ_FINDS),.)
	cargo run --release -p rtcg-vgpu --example fuzz_kernels -- --seconds $(or $(FUZZ_SECONDS),600) --seed $(or $(FUZZ_SEED),1) \
		--finds $(or $(FUZZ_FINDS),.)

# -- benchmarks and real GPUs -----------------------------------------------------------------

# The peers of the table; PoCL also comes as the Debian package pocl-opencl-icd, which knows newer processors.
bench: $(READY)
	$(BIN)/python -c "import pyopencl" 2>/dev/null || $(BIN)/python -m pip install --quiet -r benches/requirements.txt
	$(BIN)/python benches/virtual

# The original PyOpenCL on our platform, PoCL and Intel's run time.
opencl-bench: opencl
	$(PYTHON) benches/opencl.py $(OPENCL_BENCH)

gpu-test: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(READY))
	$(GPU_PYTHON) -m pytest tests/python --device real

soak: $(READY)
	$(BIN)/python tests/soak.py $(SOAK)

# compute-sanitizer comes with the CUDA toolkit.
gpu-soak: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(READY))
# A kernel's parameters end where the driver reports an error; the soak itself notices all that are none.
	compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 1 $(GPU_PYTHON) tests/soak.py --seconds 60

# Search strategies on recorded spaces, with Kernel Tuner beside them: make bench-tuning DATA=folder.
bench-tuning:
	@test -n "$(DATA)" || { echo "bench-tuning needs DATA=, a folder with Kernel Tuner's cache files"; exit 2; }
	test -d target/kernel-tuner || python3 -m venv target/kernel-tuner
	target/kernel-tuner/bin/pip install -q kernel-tuner==1.5.0
	target/kernel-tuner/bin/python benches/tuning.py $(DATA)

# Kernels of T1 files tuned on a real GPU, with Kernel Tuner beside them: make gpu-bench-tuning DATA=folder.
gpu-bench-tuning: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(READY))
	@test -n "$(DATA)" || { echo "gpu-bench-tuning needs DATA=, a folder with T1 files in t1/"; exit 2; }
	$(GPU_PYTHON) benches/tuning_live.py $(DATA)

gpu-bench: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(READY))
	$(GPU_PYTHON) benches/launches.py
	$(GPU_PYTHON) benches/gpu.py
	$(GPU_PYTHON) benches/arrays.py
	$(GPU_PYTHON) benches/einsum.py
	$(GPU_PYTHON) benches/generators.py
	$(GPU_PYTHON) benches/sparse.py
	$(GPU_PYTHON) benches/copperhead.py

clean:
	cargo clean
	rm -rf $(VENV) dist
