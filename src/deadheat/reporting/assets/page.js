// The comforts of a page: theme, tips, sorted tables, saved figures. Without them everything is there and can be read.
(() => {
  // The theme.
  const root = document.documentElement,
    all = (what, where = document) => [...where.querySelectorAll(what)];
  const theme = document.querySelector(".theme"),
    dark = matchMedia("(prefers-color-scheme:dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const name = () => {
    theme.textContent = isDark() ? "Light colours" : "Dark colours";
  };
  theme.hidden = false;
  theme.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    try {
      localStorage.setItem("deadheat-theme", root.dataset.theme);
    } catch {}
  };
  dark.addEventListener("change", name);
  name();

  // The contents beside the text.
  const contents = document.querySelector(".contents details"),
    desk = matchMedia("(min-width:1100px)");
  if (contents) {
    const fold = () => {
      contents.open = desk.matches;
    };
    desk.addEventListener("change", fold);
    fold();
    const links = new Map(all(".contents a").map((a) => [document.getElementById(a.hash.slice(1)), a]));
    const mark = () => {
      let now = null;
      for (const [section, a] of links) {
        a.removeAttribute("aria-current");
        if (section.getBoundingClientRect().top < innerHeight / 3) now = a;
      }
      if (now) now.setAttribute("aria-current", "true");
    };
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  }

  // The browser's own tips come late and not at all on touch. They are removed, and given back to a figure that is saved.
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.setAttribute("role", "status");
  for (const title of all(".chart title")) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  }
  let stepped = null;
  const hide = () => {
    tip.textContent = "";
    if (stepped) stepped.classList.remove("on");
    stepped = null;
  };
  const show = (text, x, y) => {
    if (tip.textContent !== text) tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect(),
      edge = root.clientWidth - width - 8;
    const above = y - height - 14,
      left = Math.max(8, Math.min(x - width / 2, edge));
    tip.style.transform = `translate(${left}px,${above < 8 ? y + 18 : above}px)`;
  };
  const showAt = (text, element) => {
    const box = element.getBoundingClientRect();
    show(text, box.left + box.width / 2, Math.max(box.top, 0) + Math.min(box.height / 2, 12));
  };
  const distance = (mark, x, y) => {
    const box = mark.getBoundingClientRect();
    return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
  };
  const nearest = (chart, x, y) => {
    let closest = null,
      least = 20;
    for (const mark of all("[data-tip]", chart)) {
      const far = distance(mark, x, y);
      if (far < least) [closest, least] = [mark, far];
    }
    return closest;
  };
  addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const mark = event.target.closest?.("[data-tip]");
    if (mark) show(mark.dataset.tip, event.clientX, event.clientY);
    else if (!stepped) hide();
  });
  addEventListener("pointerup", (event) => {
    if (event.pointerType !== "touch") return;
    hide();
    const chart = event.target.closest?.(".chart"),
      { clientX: x, clientY: y } = event;
    const mark = event.target.closest?.("[data-tip]") || (chart && nearest(chart, x, y));
    if (mark) show(mark.dataset.tip, x, y);
  });
  addEventListener(
    "scroll",
    () => {
      if (stepped && tip.textContent) showAt(tip.textContent, stepped);
      else hide();
    },
    { passive: true, capture: true },
  );
  root.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") hide();
  });

  // Keys.
  const keys = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const chart of all(".chart")) {
    const marks = [...new Map(all("[data-tip]", chart).map((mark) => [mark.dataset.tip, mark])).values()];
    if (!marks.length) continue;
    let at = -1;
    chart.tabIndex = 0;
    chart.addEventListener("focus", () => {
      if (!chart.matches(":focus-visible")) return;
      stepped = chart;
      showAt("Arrow keys show the values", chart);
    });
    chart.addEventListener("blur", () => {
      hide();
      at = -1;
    });
    chart.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      at = (at + keys[event.key] + marks.length + (at < 0 && keys[event.key] < 0 ? 1 : 0)) % marks.length;
      hide();
      stepped = marks[at];
      stepped.classList.add("on");
      stepped.scrollIntoView({ block: "nearest", inline: "nearest" });
      showAt(stepped.dataset.tip, stepped);
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // Tables sort by a click on a heading.
  const words = new Intl.Collator(undefined, { numeric: true }).compare;
  const value = (text) => {
    const plain = text.replace(/,(?=\d{3})/g, "").replace(/\u2212/g, "-");
    const found = /^[[(]?\s*([<>]?)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i.exec(plain);
    return found ? Number(found[2]) + ({ "<": -1e-12, ">": 1e-12 }[found[1]] || 0) : NaN;
  };
  const missing = (text) => text === "" || text === "-" || text === "\u2013";
  for (const table of all("table")) {
    const body = table.tBodies[0],
      rows = [...body.rows];
    if (rows.length < 2) continue;
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      head.append(button);
      button.onclick = () => {
        const next = { "": "ascending", ascending: "descending", descending: "" }[head.getAttribute("aria-sort") || ""];
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (!next) return body.append(...rows);
        head.setAttribute("aria-sort", next);
        const direction = next === "ascending" ? 1 : -1,
          texts = rows.map((row) => row.cells[column].textContent.trim());
        const numbers = texts.map(value),
          allNumbers = texts.every((text, i) => missing(text) || !isNaN(numbers[i]));
        const order = [...rows.keys()].sort(
          (a, b) =>
            missing(texts[a]) - missing(texts[b]) ||
            direction * ((allNumbers && numbers[a] - numbers[b]) || words(texts[a], texts[b])) ||
            a - b,
        );
        body.append(...order.map((i) => rows[i]));
      };
    });
  }

  // Figures can be saved.
  for (const button of all(".save")) {
    button.hidden = false;
    button.onclick = () => {
      const shown = all(".chart", button.closest("figure")).find((chart) => chart.getClientRects().length);
      const copy = shown.cloneNode(true),
        computed = getComputedStyle(shown),
        { width, height } = shown.viewBox.baseVal;
      const add = (name, where = copy) => {
        const made = document.createElementNS(copy.namespaceURI, name);
        where.prepend(made);
        return made;
      };
      for (const mark of all("[data-tip]", copy)) {
        add("title", mark).textContent = mark.dataset.tip;
        mark.removeAttribute("data-tip");
        mark.classList.remove("on");
      }
      copy.removeAttribute("tabindex");
      const paper = add("rect");
      for (const [name, value] of Object.entries({ class: "paper", width, height })) paper.setAttribute(name, value);
      add("style").textContent = document
        .getElementById("charts")
        .textContent.replace(/var\(--([\w-]+)(?:,[^)]*)?\)/g, (_, variable) =>
          computed.getPropertyValue("--" + variable).trim(),
        )
        .replace(/calc\(([\d.]+)px\*([\d.]+)\)/g, (_, size, part) => `${(size * part).toFixed(2)}px`);
      copy.setAttribute("xmlns", copy.namespaceURI);
      copy.setAttribute("width", width);
      copy.setAttribute("height", height);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(
        new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }),
      );
      link.download = button.dataset.name + ".svg";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
  }

  // Boxes that scroll can be reached and scrolled by keyboard.
  const reach = () => {
    for (const box of all(".scroll,.drawing")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reach);
  addEventListener("toggle", reach, true);
  reach();

  // On paper nothing can be unfolded, so sections are, and are folded again afterwards.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = all("details.more:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
})();
