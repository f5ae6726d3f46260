"""How a page looks: on a wide screen, on a phone, in the dark, and on paper. Nothing on it moves by itself."""

from __future__ import annotations

from deadheat.charts.chart import NARROW, WIDE
from deadheat.charts.theme import DARK, LIGHT, variables

# Where the small drawing of a figure takes the place of the large one, and where the contents move beside the text.
PHONE = "(max-width:639.98px)"
DESK = "(min-width:1100px)"

# Colours of the page that no chart has: a link, what stands out behind text, and the tip.
LIGHT_PAGE = variables(LIGHT) + "--link:#0b5fa5;--wash:#f5f7f9;--tip:#1d2129;--tip-ink:#ffffff;color-scheme:light"
DARK_PAGE = variables(DARK) + "--link:#8cc0f0;--wash:#1c2026;--tip:#e9ebee;--tip-ink:#15181d;color-scheme:dark"

_THEMES = f"""
:root{{{LIGHT_PAGE}}}
@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{DARK_PAGE}}}}}
@media screen{{:root[data-theme=dark]{{{DARK_PAGE}}}}}
"""

_TEXT = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1.5rem}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:anywhere;
font:1rem/1.6 -apple-system,BlinkMacSystemFont,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
.page{position:relative;max-width:48rem;margin:0 auto;padding:2.75rem 1.5rem 4rem}
h1,h2,h3,.verdict{font-family:Charter,"Bitstream Charter","Sitka Text","Iowan Old Style",Cambria,"Noto Serif",
"Liberation Serif",Georgia,serif;text-wrap:pretty}
h1{margin:0;font-size:1.5rem;line-height:1.25;font-weight:600}
h2{margin:0 0 .9rem;font-size:1.45rem;line-height:1.3;font-weight:600;max-width:42rem}
h3{margin:0 0 .9rem;font-size:1.2rem;line-height:1.3;font-weight:600;max-width:42rem}
.chapter>h2{font-size:1.75rem;padding-top:1rem;border-top:1px solid var(--line);max-width:none}
.chapter>section+section{padding-top:2.75rem}
.more>summary{width:auto}
.more>summary>*{display:inline;margin:0}
.more[open]>summary{margin-bottom:.9rem}
.chapter>section:has(>.more)+section:has(>.more){padding-top:.6rem}
p{margin:0 0 .9rem;max-width:42rem;text-wrap:pretty}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.18em}
:focus-visible{outline:2px solid var(--link);outline-offset:3px;border-radius:2px}
.skip{position:absolute;left:-999rem;top:0;padding:.6rem 1rem;background:var(--paper);z-index:3}
.skip:focus{left:0}
.top{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:.15rem 2rem}
h1{flex:0 0 100%}
.motto{margin:0;color:var(--soft);font-style:italic}
.verdict{margin:1.75rem 0 0;padding:1.5rem 0 1.3rem;border:solid var(--mark);border-width:3px 0 1px;line-height:1.35}
.verdict p{margin:0 0 .5em;max-width:none;font-size:1.25rem}
.verdict b{font-weight:600}
.verdict p:first-child:not(:has(b)),.verdict p:first-child b{font-size:clamp(1.6rem,1.25rem + 1.6vw,2.1rem);
line-height:1.25;text-wrap:balance}
.verdict p:first-child b span{display:none}
.verdict p:first-child b{display:block;margin-bottom:.35rem;font-weight:400}
.verdict p:last-child{margin-bottom:0}
main>section{padding-top:3.25rem}
.reading{margin-top:1.6rem}
.notes{margin:1.25rem 0 0;padding:0;list-style:none;color:var(--soft);font-size:.875rem;line-height:1.5;max-width:42rem}
.notes li{margin:0 0 .4rem}
footer{margin-top:4rem;padding-top:1.25rem;border-top:1px solid var(--line);color:var(--soft);font-size:.875rem}
footer p{margin:0 0 .6rem}
code{display:block;margin:0 0 .35rem;color:var(--ink);font:.8125rem/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,
"Liberation Mono",monospace;user-select:all;white-space:pre-wrap}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
[hidden]{display:none!important}
"""

_CONTENTS = f"""
.contents{{margin:1.5rem 0 0;font-size:.9375rem}}
summary{{cursor:pointer;color:var(--soft);width:fit-content}}
summary:hover{{color:var(--ink)}}
.contents ol{{margin:.5rem 0 0;padding:0;list-style:none}}
.contents li{{margin:0 0 .4rem}}
.contents ol ol{{margin:.2rem 0 0;padding-left:1rem}}
.contents a{{color:var(--ink);text-decoration:none;overflow:hidden;display:-webkit-box;-webkit-box-orient:vertical;
-webkit-line-clamp:3}}
.contents a:hover{{color:var(--link);text-decoration:underline}}
@media {DESK}{{
.page{{max-width:65.5rem;padding-left:19rem}}
main{{position:relative}}
.contents{{position:absolute;left:-17.5rem;top:1.75rem;bottom:0;width:13.5rem;margin:0;line-height:1.4}}
.contents details{{position:sticky;top:2rem;max-height:calc(100vh - 4rem);overflow-y:auto;padding:1.6rem 0 0}}
.contents summary{{list-style:none}}
.contents summary::-webkit-details-marker{{display:none}}
.contents li{{margin:0;padding:.28rem 0 .28rem .9rem;border-left:2px solid var(--line)}}
.contents li li{{border:0;padding:.1rem 0}}
.contents ol ol{{padding:0}}
.contents li:has([aria-current]){{border-color:var(--mark)}}
.contents a{{color:var(--soft)}}
.contents a[aria-current]{{color:var(--ink)}}
}}
"""

_FIGURES = f"""
figure{{margin:1.9rem 0 0}}
figcaption{{max-width:42rem;margin:0 0 .9rem;font-size:.9375rem;line-height:1.5}}
figcaption strong{{display:block;font-size:1rem}}
figcaption span{{color:var(--soft)}}
.drawing:not(.fits){{overflow-x:auto}}
.drawing:not(.fits) .chart{{outline-offset:-2px}}
.chart{{display:block;height:auto;overflow:visible}}
.fits .chart{{max-width:100%}}
.wide{{--chart-font:{WIDE.font:g}px}}
.narrow{{--chart-font:{NARROW.font:g}px;display:none}}
.behind{{position:relative;margin:.6rem 0 0;font-size:.875rem}}
.tools{{position:absolute;right:0;top:0;display:flex;gap:1.1rem}}
.tools button{{color:var(--link);text-decoration:underline;text-decoration-thickness:1px;text-underline-offset:.18em}}
.theme{{color:var(--soft);font-size:.875rem}}
.theme:hover,.tools :hover{{color:var(--ink)}}
.tip{{position:fixed;left:0;top:0;z-index:4;max-width:min(20rem,calc(100vw - 1rem));padding:.4rem .65rem;
background:var(--tip);color:var(--tip-ink);border-radius:4px;font-size:.8125rem;line-height:1.4;pointer-events:none;
white-space:pre-line;font-variant-numeric:tabular-nums}}
.tip:empty{{display:none}}
.chart .on{{stroke:var(--ink);stroke-width:2}}
@media screen and {PHONE}{{
.wide{{display:none}}
.narrow{{display:block}}
.narrow.fits .chart{{width:100%;max-width:27rem}}
}}
"""

_TABLES = """
.table{margin:1.6rem 0 0}
details.table,.behind details{font-size:.9375rem}
.scroll{overflow-x:auto;max-width:100%;width:fit-content;
background:linear-gradient(to left,var(--paper) 40%,transparent) right/2rem 100% no-repeat local,
linear-gradient(to left,var(--line),transparent) right/.75rem 100% no-repeat scroll}
table{border-collapse:separate;border-spacing:0;font-size:.9375rem;line-height:1.45;
font-variant-numeric:tabular-nums lining-nums}
caption{caption-side:top;text-align:left;padding:0 0 .5rem;color:var(--soft);font-size:.9375rem}
caption span{display:block;position:sticky;left:0;max-width:min(42rem,calc(100vw - 2rem))}
th,td{padding:.36rem 0 .36rem 1.4rem;text-align:right;vertical-align:top;white-space:nowrap;overflow-wrap:normal;
border-bottom:1px solid var(--line);unicode-bidi:plaintext}
thead th{white-space:normal;overflow-wrap:break-word;max-width:12rem;vertical-align:bottom;
font-weight:600;font-size:.875rem;color:var(--soft);border-bottom:1px solid var(--soft)}
tbody tr:last-child>*{border-bottom-color:var(--soft)}
tbody th{font-weight:400}
tr>:first-child{padding-left:0;padding-right:.4rem;text-align:left;position:sticky;left:0;background:var(--paper)}
.t{text-align:left}
tbody .t,tbody th{white-space:normal;min-width:8rem;max-width:22rem;overflow-wrap:break-word}
tbody tr:hover>*{background:var(--wash)}
th button{font-weight:inherit;white-space:inherit}
th button:hover{color:var(--ink)}
[aria-sort] button::after{content:"\\2191";content:"\\2191"/"";margin-left:.3em}
[aria-sort=descending] button::after{content:"\\2193";content:"\\2193"/""}
.behind .scroll{margin-top:.8rem;max-height:26rem;overflow-y:auto}
.behind table{font-size:.8125rem}
.behind thead th{position:sticky;top:0;z-index:1;background:var(--paper);font-size:.8125rem}
.behind thead th:first-child{z-index:2}
.more{margin:.6rem 0 0;color:var(--soft)}
"""

_PHONES = f"""
@media screen and {PHONE}{{
.page{{padding:1.5rem 1rem 3rem}}
main>section{{padding-top:2.5rem}}
th,td{{padding-left:1.1rem}}
table{{width:max-content}}
tbody tr>:first-child{{max-width:42vw}}
.scroll tr>:first-child{{border-right:1px solid var(--line)}}
.tools>*,summary,.theme,.contents a{{padding-top:.4rem;padding-bottom:.4rem}}
.contents li{{margin:0}}
}}
"""

_PAPER = """
@media print{
@page{margin:16mm 15mm}
html{font-size:14px}
.page{max-width:none;padding:0}
.skip,.contents,.behind,.theme,.tip,details.table:not([open]){display:none!important}
.contents+section{padding-top:2rem}
main>section{padding-top:1.8rem}
.verdict p:first-child b{font-size:1.8rem}
h2,figcaption,caption,summary,p:has(+figure){break-after:avoid}
figure,tr,.verdict,.table:not(:has(tbody tr:nth-child(20))){break-inside:avoid}
thead{display:table-header-group}
.scroll,.drawing{overflow:visible;background:none}
table{font-size:.8rem}
th,td{padding-left:.7rem}
th,td{padding-left:.9rem}
tr>:first-child{position:static;background:none}
tr:has(>:nth-child(11))>*{padding-left:.4rem;font-size:.6875rem;white-space:normal;overflow-wrap:anywhere}
.chart{max-width:100%}
[aria-sort] button::after{content:none!important}
a{color:inherit;text-decoration:none}
p,li{orphans:3;widows:3}
}
"""


def style() -> str:
    """All rules but those for charts, which a figure takes along when it is saved."""
    rules = _THEMES + _TEXT + _CONTENTS + _FIGURES + _TABLES + _PHONES + _PAPER
    return "".join(line for line in rules.split("\n") if line)
