import { xml as text } from './junit.js'
import type { HostReport, RunReport } from './run-report.js'
import { chainOf, secondsText, sizeText } from './text.js'

/** The report as one HTML file that needs nothing else: a timeline a host, failures with their causes, consoles. */
export function reportHtml(report: RunReport, consoles: Readonly<Record<string, string>> = {}): string {
  const began = Date.parse(report.started_at)
  const length = Math.max(report.seconds, 0.001)
  const rows = report.hosts.map((host) => hostHtml(host, began, length, consoles[host.host]))
  const changes = report.changes.map(
    ({ host, kind, text: what }) => `<li><b>${text(host)}</b>: ${text(kind)}: ${text(what)}</li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Run ${text(report.id)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Run ${text(report.id)}${report.rehearsed ? ' (rehearsal)' : ''}</h1>
<p>${text(report.file)}, ${text(report.started_at)}, ${secondsText(report.seconds)}.
${report.hosts.filter(({ outcome }) => outcome === 'ok').length} of ${report.hosts.length} hosts are well.</p>
${changes.length === 0 ? '' : `<h2>Compared with ${text(report.compared_with ?? '')}</h2>\n<ul>${changes.join('\n')}</ul>`}
${rows.join('\n')}
</body>
</html>
`
}

function hostHtml(host: HostReport, began: number, length: number, console: string | undefined): string {
  const { facts, outcome, stages } = host
  const bars = stages
    .filter(({ seconds, status }) => seconds > 0 || status === 'failed')
    .map(({ stage, status, seconds, startedAt }) => {
      const left = Math.min(99.5, Math.max(0, (startedAt - began) / 10 / length))
      const width = Math.max(0.4, Math.min(100 - left, (seconds * 100) / length))
      const title = `${stage}: ${status}, ${secondsText(seconds)}`
      return `<span class="${status} ${stage}" style="left:${left.toFixed(2)}%;width:${width.toFixed(2)}%" title="${text(title)}"></span>`
    })
  const disk = [
    facts.diskPath,
    facts.diskModel,
    facts.diskSerial ?? facts.diskWwn,
    facts.diskSize === null ? null : sizeText(facts.diskSize),
  ]
  const machine = [facts.product, facts.systemSerial, facts.bmcSerial].filter(Boolean).join(', ')
  const results = [
    ...host.checks.map(({ what, ok, found }) => ({ what, ok, found })),
    ...host.post_checks.map(({ command, ok, found }) => ({ what: command, ok, found })),
  ]
  return `<section class="${outcome}">
<h3>${text(host.host)} <small>${outcome}, ${secondsText(host.seconds)}</small></h3>
<p>${text(machine)}${machine === '' ? '' : '; '}${text(disk.filter(Boolean).join(', '))}</p>
<div class="timeline">${bars.join('')}</div>
${chainOf(host)
  .map((sentence, depth) => `<p class="cause" style="margin-left:${depth}em">${text(sentence)}</p>`)
  .join('\n')}
${host.console.map(({ kind, line }) => `<p class="cause">console, ${kind}: <code>${text(line)}</code></p>`).join('\n')}
${results.length === 0 ? '' : `<ul>${results.map(({ what, ok, found }) => `<li>${ok ? '✓' : '✗'} ${text(what)}: ${text(found)}</li>`).join('')}</ul>`}
<table>${stages.map((each) => `<tr><td>${each.stage}<td>${each.status}<td>${each.attempts}<td>${secondsText(each.seconds)}`).join('')}</table>
${console === undefined || console === '' ? '' : `<details><summary>console</summary><pre>${text(console)}</pre></details>`}
</section>`
}

const STYLE = `
body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}
section{border-left:.4em solid #999;padding:.1em 1em;margin:1em 0}
section.ok{border-color:#2a7}section.failed{border-color:#c33}
.timeline{position:relative;height:1.2em;background:#eee}
.timeline span{position:absolute;top:0;bottom:0;background:#58a;border-right:1px solid #fff}
.timeline .steps{background:#2a7}.timeline .failed{background:#c33}
.cause{margin:.2em 0}pre{overflow:auto;background:#f6f6f6;padding:.5em}td{padding:0 1em 0 0}
`
