"""`pycuda.autoinit`, `pycuda.autoprimaryctx`, `pycuda.tools.make_default_context`; the notice of the virtual GPU."""

import pytest

from tests.python.subprocesses import has_real_device, run_python

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("name", ["autoinit", "autoprimaryctx"])
def test_a_context_is_there(name):
    run_python(
        f"""
        import atexit
        import pycuda.driver as cuda
        atexit.register(lambda: None)
        import pycuda.{name} as auto
        assert cuda.Context.get_current() == auto.context
        assert cuda.Context.get_device() == auto.device == cuda.Device(0)
        cuda.mem_alloc(10)
        """
    )


def test_primary_context_is_shared():
    run_python(
        """
        import pycuda.autoprimaryctx as auto, pycuda.driver as cuda
        again = cuda.Device(0).retain_primary_context()
        assert again == auto.context and hash(again) == hash(auto.context)
        again.detach()
        cuda.mem_alloc(10)
        """
    )


def test_user_pops_the_context_of_autoinit():
    run_python("import pycuda.autoinit; pycuda.autoinit.context.pop()")
    run_python("import pycuda.autoinit; pycuda.autoinit.context.detach()")
    run_python("import pycuda.autoinit, pycuda.driver as cuda; keep = cuda.Device(0).make_context()")


def test_device_from_the_environment():
    run_python("import pycuda.autoinit; assert pycuda.autoinit.device.pci_bus_id()", CUDA_DEVICE=0)
    result = run_python("import pycuda.autoinit", check=False, CUDA_DEVICE="seven")
    assert "CUDA_DEVICE is 'seven'" in result.stderr and "ValueError" in result.stderr
    result = run_python("import pycuda.autoinit", check=False, CUDA_DEVICE=4711)
    assert "cuDeviceGet failed: invalid device ordinal" in result.stderr
    assert "(environment variable CUDA_DEVICE is '4711')" in result.stderr


def test_device_from_the_home_directory(tmp_path):
    (tmp_path / ".cuda_device").write_text("4711\n")
    result = run_python("import pycuda.autoinit", check=False, HOME=tmp_path)
    assert "invalid device ordinal" in result.stderr
    (tmp_path / ".cuda_device").write_text("0\n")
    run_python("import pycuda.autoinit", HOME=tmp_path)


def test_second_virtual_device():
    run_python(
        """
        import pycuda.driver as cuda
        cuda.init()
        devices = [cuda.Device(i) for i in range(cuda.Device.count())]
        virtual = [device for device in devices if device.is_virtual]
        assert len(virtual) == 2 and len(set(devices)) == len(devices)
        # Virtual devices come last.
        assert devices[-2:] == virtual
        assert len({device.pci_bus_id() for device in devices}) == len(devices)
        first, second = (device.make_context() for device in virtual)
        assert cuda.Context.get_device() == virtual[1]
        second.pop()
        assert cuda.Context.get_device() == virtual[0]
        first.pop()
        """,
        RTCG_VIRTUAL_DEVICES=2,
    )


def test_contexts_of_default_makers():
    run_python(
        """
        import pycuda.driver as cuda
        from pycuda.tools import make_default_context
        cuda.init()
        tried = []
        def maker(device):
            tried.append(device)
            raise cuda.LogicError("not this one")
        try:
            make_default_context(maker)
        except RuntimeError as error:
            assert "not this one" in str(error)
        else:
            raise AssertionError
        assert len(tried) == cuda.Device.count() and not isinstance(RuntimeError, cuda.Error)
        context = make_default_context(lambda device: device.make_context())
        context.pop()
        """
    )


NOTICE = "using the virtual GPU"


@pytest.mark.skipif("has_real_device()", reason="there is a real device")
@pytest.mark.parametrize("line", ["import pycuda.autoinit", "import pycuda.autoprimaryctx", "cuda.init()"])
def test_the_notice_comes_once_and_names_the_users_line(tmp_path, line):
    script = tmp_path / "script.py"
    script.write_text(f"import pycuda.driver as cuda\n{line}\ncuda.init()\nimport pycuda.autoprimaryctx\n")
    code = f"import runpy; runpy.run_path({str(script)!r})"
    result = run_python(code, check=False, RTCG_VIRTUAL_DEVICES="")
    assert result.returncode == 0
    assert result.stderr.count(NOTICE) == 1
    assert f"{script}:2: UserWarning" in result.stderr, result.stderr
    assert "RTCG_VIRTUAL_DEVICES=1" in result.stderr
    silent = run_python(code, check=False, RTCG_VIRTUAL_DEVICES="1")
    assert silent.returncode == 0 and silent.stderr == ""


@pytest.mark.skipif("has_real_device()", reason="there is a real device")
def test_notice_as_an_error():
    """``-W error`` must not leave the driver half initialised."""
    result = run_python(
        """
        import warnings
        import pycuda.driver as cuda
        warnings.simplefilter("error")
        try:
            cuda.init()
        except UserWarning:
            pass
        cuda.init()
        assert cuda.Device.count() == 1
        """,
        check=False,
        RTCG_VIRTUAL_DEVICES="",
    )
    assert result.returncode == 0, result.stderr


def test_no_device_at_all():
    result = run_python(
        "import pycuda.autoinit",
        check=False,
        RTCG_VIRTUAL_DEVICES="0",
        RTCG_LIBCUDA="/nonexistent",
        CUDA_VISIBLE_DEVICES="",
    )
    assert result.returncode == 1
    assert "rtcg.driver.RuntimeError: cuInit failed: no CUDA-capable device is detected" in result.stderr
    # The message says what was tried.
    assert "/nonexistent" in result.stderr


def test_before_init():
    run_python(
        """
        import pycuda.driver as cuda
        assert cuda.get_driver_version() > 11000
        for use in (cuda.Device.count, lambda: cuda.Device(0)):
            try:
                use()
            except cuda.LogicError as error:
                assert "failed: " in str(error)
            else:
                raise AssertionError
        """
    )


assert has_real_device  # Named in the conditions above.
