"""The tests that each model of sasmodels brings along, on its OpenCL platform: pytest finds one for each model."""

import unittest

import pytest
from sasmodels.core import list_models, load_model_info
from sasmodels.kernelcl import use_opencl
from sasmodels.model_test import _add_model_to_suite


def test_opencl_is_used():
    assert use_opencl()


@pytest.mark.parametrize("model", list_models("c"))
def test_model(model):
    suite = unittest.TestSuite()
    _add_model_to_suite(["opencl"], suite, load_model_info(model))
    tests = [test for test in suite if test.platform == "ocl"]
    assert tests, "none of its tests is one of OpenCL"
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    said = [text for _, text in result.errors + result.failures]
    assert not said, said[0]
