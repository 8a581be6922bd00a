import { createHash } from 'node:crypto'
import { markup, Html, type HtmlValue } from './html.js'

/** Colour of a bar or a mark, by what it means. */
export type Tone = 'good' | 'bad' | 'work' | 'wait' | 'rest' | 'note'

/** A page that needs nothing else: no script, no font and no picture from elsewhere. */
export function htmlPage({ title, body }: { title: string; body: HtmlValue }): string {
  const hash = createHash('sha256').update(STYLE).digest('base64')
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${contentPolicy(hash)}">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${Html.of(STYLE)}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text
}

const contentPolicy = (hash: string): string => `default-src 'none'; style-src 'sha256-${hash}'`

/** Headers with which a server sends a page. */
export const pageHeaders = (): Record<string, string> => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${contentPolicy(createHash('sha256').update(STYLE).digest('base64'))}; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
})

const STYLE = `
:root{color-scheme:light dark;--text:#1d2329;--soft:#565f69;--back:#fff;--box:#f4f6f8;--line:#d3d9df;
--good:#1b7f4b;--bad:#c0262d;--work:#2f6fb5;--wait:#a76a00;--rest:#8a94a0;--note:#7a4fb5;--link:#1d5fa8}
@media (prefers-color-scheme:dark){:root{--text:#e4e9ee;--soft:#a3adb8;--back:#14181c;--box:#1e242a;--line:#39424b;
--good:#4fc284;--bad:#ff7a7a;--work:#6caaf0;--wait:#e0a545;--rest:#7d8894;--note:#b897ee;--link:#86bbf3}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .3rem}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.4rem 0 .4rem}p{margin:.3rem 0;overflow-wrap:anywhere}
small,.soft{color:var(--soft);font-size:.9em;font-weight:normal}a{color:var(--link)}
code,pre{font:13px/1.45 ui-monospace,"Cascadia Mono","DejaVu Sans Mono",monospace}
code{overflow-wrap:anywhere}
pre{margin:.4rem 0;padding:.7rem;background:var(--box);border:1px solid var(--line);border-radius:4px;overflow:auto;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:32rem}
section.card{border:1px solid var(--line);border-left:5px solid var(--rest);border-radius:4px;padding:.2rem 1rem .9rem;margin:1rem 0}
section.card.good{border-left-color:var(--good)}section.card.bad{border-left-color:var(--bad)}
section.card.work{border-left-color:var(--work)}section.card>h3{margin-top:.6rem}
.badge{display:inline-block;padding:0 .5em;border:1px solid currentColor;border-radius:1em;font-size:.85rem;font-weight:600;white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.work{color:var(--work)}.wait{color:var(--wait)}.rest{color:var(--rest)}.note{color:var(--note)}
section.card{color:var(--text)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.4rem 0}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
ol.causes{list-style:none;margin:.6rem 0;padding:0}
ol.causes li{margin:0;padding:.3rem .7rem;border-left:3px solid var(--bad);background:var(--box);overflow-wrap:anywhere}
ol.causes li+li::before{content:"because: ";color:var(--soft)}
.remedy{padding:.35rem .7rem;border-left:3px solid var(--good);background:var(--box)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600;white-space:nowrap}td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.time{white-space:nowrap;font-variant-numeric:tabular-nums}td.wide{overflow-wrap:anywhere;min-width:14rem}
details{margin:.5rem 0}summary{cursor:pointer;padding:.15rem 0}
.chart{margin:.6rem 0}.lane{display:grid;grid-template-columns:7.5rem 1fr;align-items:center;gap:.6rem;margin:.15rem 0}
.lane>span{color:var(--soft);font-size:.87rem;text-align:right;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.lane svg{width:100%;height:1.25rem;display:block;background:var(--box)}
.axis{display:flex;justify-content:space-between;margin-left:8.1rem;color:var(--soft);font-size:.8rem;font-variant-numeric:tabular-nums}
rect.good{fill:var(--good)}rect.bad{fill:var(--bad)}rect.work{fill:var(--work)}rect.wait{fill:var(--wait)}
rect.rest{fill:var(--rest);opacity:.55}rect.note{fill:var(--note)}
rect{stroke:var(--back);stroke-width:1;vector-effect:non-scaling-stroke}rect.mark{stroke:none}
.disk svg{width:100%;height:1.7rem;display:block;background:var(--box);border:1px solid var(--line)}
.disk svg.writes{height:.7rem;border-top:0}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin:.3rem 0;padding:0;list-style:none;color:var(--soft);font-size:.87rem}
.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.35em;vertical-align:-.05em;background:currentColor}
@media (max-width:40rem){.lane{grid-template-columns:1fr;gap:0}.lane>span{text-align:left}.axis{margin-left:0}.facts{grid-template-columns:1fr}.facts dd{margin-bottom:.3rem}}
@media print{:root{color-scheme:light;--text:#000;--soft:#333;--back:#fff;--box:#f4f6f8;--line:#bbb;--good:#1b7f4b;--bad:#c0262d;--work:#2f6fb5;
--wait:#a76a00;--rest:#8a94a0;--note:#7a4fb5;--link:#000}body{font-size:11px}pre{max-height:none}main{max-width:none;padding:0}
section.card,.lane,tr{break-inside:avoid}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`
