from tests.reporting.browsing import _tabs as _tabs
from tests.reporting.browsing import visit as visit
