import { visibleLine } from '../../base/runtime/index.js'
import type { BmcEntry, JournalEntry, StepEntry } from './entry.js'

/** An entry in one line for people, also with line breaks of clients and programs in it: `12:00:31.250  node-3  PUT /v1/nodes/node-3/states/provision 202  (fault-1)` */
export function entryLine(entry: JournalEntry): string {
  const time = entry.labTime.slice(11, 23)
  const who = entry.name ?? entry.node ?? entry.machine ?? '-'
  const fault = entry.fault === null || entry.kind === 'fault' ? '' : `  (${entry.fault})`
  const by = entry.process === undefined ? '' : `  [${entry.process}]`
  return visibleLine(`${time}  ${who}  ${formatEntry(entry)}${fault}${by}`)
}

function formatEntry(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'exchange': {
      const { from, to, method, target, status, error, nearMiss } = entry
      const miss = nearMiss ? `; nearest is ${nearMiss.nearest}: ${nearMiss.why}` : ''
      return `${from} > ${to}  ${method} ${target}  ${status ?? error}${miss}`
    }
    case 'command':
      return `$ ${entry.argv.join(' ')}  ${entry.error ?? `exit ${entry.exitCode}`}`
    case 'state':
      return `${entry.was === entry.state || entry.was === null ? '' : `${entry.was} > `}${entry.state}${entry.power === null ? '' : `, ${entry.power}`}${entry.lastError === null ? '' : `: ${entry.lastError}`}`
    case 'step':
      return `${entry.flow} step ${entry.interface}.${entry.step}  ${stepText(entry)}`
    case 'bmc':
      return `bmc  ${entry.call}${redfish(entry)}${entry.error === null ? '' : `  ${entry.error}`}`
    case 'power':
      return `power ${entry.what}${entry.error === null ? '' : `  ${entry.error}`}`
    case 'boot':
      return `boots: ${entry.what}${entry.error === null ? '' : `: ${entry.error}`}`
    case 'pull':
      return `pulls ${entry.what}${entry.error === null ? '' : `  ${entry.error}`}`
    case 'fault':
      return `${entry.fault} (${entry.effect}) ${entry.what}`
    case 'lab':
      return entry.what
  }
}

const stepText = ({ what, stage, percent }: StepEntry): string =>
  what === 'stage' ? `at ${stage}` : what === 'percent' ? `${percent} %` : what

const redfish = ({ method, target, status }: BmcEntry): string =>
  method === null ? '' : `  ${method} ${target}${status === null ? '' : `  ${status}`}`
