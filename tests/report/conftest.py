from tests.report.browsing import _tabs as _tabs
from tests.report.browsing import visit as visit
