from typing import Any

__all__ = ["Source", "Template", "render"]

class Source:
    text: str
    name: str
    template: str
    def __init__(self, text: str, compiled_text: str, name: str, template: str) -> None: ...

class Template:
    text: str
    name: str
    def __init__(self, text: str, name: str = "template") -> None: ...
    def render(self, **values: Any) -> Source: ...
    def __call__(self, **values: Any) -> Source: ...

def render(text: str, name: str = "template", **values: Any) -> Source: ...
