// Before anything is painted, so that a dark page never flashes light. Storage may be forbidden, as for files in some
// browsers: then the choice holds while the page is open.
(() => {
  try {
    const kept = localStorage.getItem("deadheat-theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch {}
})();
