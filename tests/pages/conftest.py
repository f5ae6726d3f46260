from tests.pages.browsing import _tabs as _tabs
from tests.pages.browsing import browser as browser
from tests.pages.browsing import visit as visit
