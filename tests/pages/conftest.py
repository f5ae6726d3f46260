from tests.pages.browsing import _tabs as _tabs
from tests.pages.browsing import visit as visit
