"""Take the picture of the README: python docs/assets/picture.py deadheat-demo/index.html docs/assets/demo.png ."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

page, target = Path(sys.argv[1]).resolve(), sys.argv[2]
with sync_playwright() as driver:
    browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    tab = browser.new_page(viewport={"width": 1280, "height": 1530}, color_scheme="light")
    tab.goto(page.as_uri())
    tab.screenshot(path=target)
    browser.close()
