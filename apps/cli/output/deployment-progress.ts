import { elapsedText } from '../../../base/runtime/index.js'
import { STAGES, type DeploymentEvent, type StageName } from '../../runs/index.js'
import type { Printer } from './printer.js'

/** Shows a deployment while it runs. */
export interface ProgressView {
  /** @param elapsed seconds since the command began */
  show(event: DeploymentEvent, elapsed: number): void
  /** Time passes. */
  tick(elapsed: number): void
  /** The deployment has ended. */
  end(): void
}

/** For logs and pipes: a line an event, a percentage only when it has moved by ten. */
export function lineProgress(stdout: Printer): ProgressView {
  let shown = -Infinity
  return {
    show(event, elapsed) {
      if (event.event === 'progress' && 'percent' in event) {
        if (event.percent < shown + 10 && event.percent !== 100) return
        if (event.percent === shown) return
        shown = event.percent
      }
      if (event.event === 'progress' && 'stage' in event) shown = -Infinity
      const text = formatDeploymentEvent(event)
      if (text !== null) stdout.line(`${elapsed.toFixed(2).padStart(7)}s  ${text}`)
    },
    tick() {},
    end() {},
  }
}

function formatDeploymentEvent(event: DeploymentEvent): string | null {
  switch (event.event) {
    case 'started':
      return `node ${event.node} (${event.uuid}) at ${event.ironic_url}`
    case 'disk':
      return `disk ${event.path}${event.model === null ? '' : `, ${event.model}`}, ${event.size} bytes`
    case 'stage':
      return event.status === 'started'
        ? `${event.stage} ...`
        : `${event.stage} ${event.status}, ${elapsedText(event.seconds * 1000)}`
    case 'state':
      return `  ${event.provision_state}${event.power_state === null ? '' : `, ${event.power_state}`}`
    case 'waiting':
      return `  ${waitText(event)}`
    case 'progress':
      if ('percent' in event) return `  ${event.step}: ${event.percent} %`
      // The installer's own percentage lines become percentages.
      if ('line' in event) return /^(> )?Read disk/.test(event.line) ? null : `  | ${event.line}`
      return `  ${event.step}: ${event.stage}`
  }
}

const waitText = (event: DeploymentEvent & { event: 'waiting' }): string => event.for ?? `waits for ${event.seconds} s`

const STAGE_WIDTH = Math.max(...STAGES.map((stage) => stage.length))

/** For a terminal: one line a stage, the last one rewritten in place. */
export function liveProgress(stdout: Printer): ProgressView {
  let current: { stage: StageName; since: number } | null = null
  let detail = ''
  let percent: number | null = null
  const redraw = (elapsed: number) => {
    if (!current) return
    const bar = percent === null ? '' : `  ${barOf(percent)} ${String(percent).padStart(3)} %`
    stdout.replaceLine(
      `  … ${current.stage.padEnd(STAGE_WIDTH)}  ${elapsedText((elapsed - current.since) * 1000).padStart(8)}  ${detail}${bar}`,
    )
  }
  return {
    show(event, elapsed) {
      switch (event.event) {
        case 'started':
          stdout.replaceLine(`  node ${event.node} at ${event.ironic_url}`, { hasEnded: true })
          break
        case 'disk':
          stdout.replaceLine(`  disk ${event.path}, ${event.size} bytes`, { hasEnded: true })
          break
        case 'stage':
          if (event.status === 'started') {
            current = { stage: event.stage, since: elapsed }
            detail = ''
            percent = null
            break
          }
          stdout.replaceLine(
            `  ${event.status === 'done' ? '✓' : '✗'} ${event.stage.padEnd(STAGE_WIDTH)}  ${elapsedText(event.seconds * 1000).padStart(8)}`,
            { hasEnded: true },
          )
          current = null
          return
        case 'waiting':
          detail = waitText(event)
          break
        case 'state':
          // While Ironic works through the agent, the agent's own progress says more.
          if (detail.includes(':') && /wait|ing$/.test(event.provision_state)) break
          detail = event.provision_state
          percent = null
          break
        case 'progress':
          if ('stage' in event) {
            detail = `${event.step}: ${event.stage}`
            percent = null
          } else if ('percent' in event) percent = event.percent
      }
      redraw(elapsed)
    },
    tick: redraw,
    end() {
      if (current) stdout.line('')
    },
  }
}

function barOf(percent: number): string {
  const filled = Math.round(percent / 5)
  return `${'█'.repeat(filled)}${'░'.repeat(20 - filled)}`
}
