"""From results to readers: views turn a result into blocks, renderers turn blocks into what people read.

The package has the name of the function `deadheat.report`, and takes its place once any of its modules is imported. So
it can be called like that function.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        from deadheat.report.report import report

        return report(*args, **options)


sys.modules[__name__].__class__ = _CallablePackage
