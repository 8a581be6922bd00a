import { createHash } from 'node:crypto'
import { failureLines, failureOf, outcomeText } from './host-failure.js'
import type { HostRunReport, RunReport } from './run-report.js'

/** Lines of the hosts in their file. */
export type HostLines = ReadonlyMap<string, number>

/**
 * Commands to GitHub Actions, a line each, which show failures at the hosts' lines in the file.
 * Source: "Workflow commands for GitHub Actions", and `packages/core/src/command.ts` of actions/toolkit for what is escaped.
 */
export function githubAnnotations(report: RunReport, lines: HostLines): string[] {
  return failedHosts(report).map((host) => {
    const properties = {
      title: `${host.host}: ${outcomeText(host)}`,
      file: report.file,
      line: lineOf(host, lines),
    }
    const named = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`)
    return `::error ${named.join(',')}::${escapeData(failureLines(host).join('\n'))}`
  })
}

const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/**
 * A Code Quality report, which GitLab shows at the hosts' lines in a merge request.
 * Source: GitLab's documentation, "Code Quality report format".
 */
export function gitlabCodeQuality(report: RunReport, lines: HostLines): string {
  const issues = failedHosts(report).map((host) => {
    const { stage = '', code = '' } = failureOf(host) ?? {}
    return {
      description: `${host.host}: ${outcomeText(host)}: ${failureLines(host).join('; ')}`,
      check_name: code,
      // The same failure of the next run is no new one.
      fingerprint: createHash('sha256')
        .update(JSON.stringify([host.host, stage, code]))
        .digest('hex'),
      severity: 'critical',
      location: { path: report.file, lines: { begin: lineOf(host, lines) } },
    }
  })
  return `${JSON.stringify(issues, null, 2)}\n`
}

const failedHosts = ({ hosts }: RunReport): HostRunReport[] => hosts.filter(({ outcome }) => outcome === 'failed')

const lineOf = ({ host }: HostRunReport, lines: HostLines): number => lines.get(host) ?? 1
