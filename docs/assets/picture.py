"""Take a picture of a page that Deadheat made, as the README and the site show them.

python docs/assets/picture.py PAGE.html PICTURE.png [--verdict]      its top, or only the verdict
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

page, target = Path(sys.argv[1]).resolve(), sys.argv[2]
with sync_playwright() as driver:
    browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    tab = browser.new_page(viewport={"width": 1280, "height": 1530}, color_scheme="light")
    tab.goto(page.as_uri())
    if "--verdict" in sys.argv:
        top, end = (tab.locator(found).first.bounding_box() for found in ("header", "h2:visible >> nth=0"))
        assert top
        assert end
        box = {"x": top["x"] - 24, "y": top["y"] - 16, "width": top["width"] + 48}
        tab.screenshot(path=target, clip={**box, "height": end["y"] - top["y"]})
    else:
        tab.screenshot(path=target)
    browser.close()
