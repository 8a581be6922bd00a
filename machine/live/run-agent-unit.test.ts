import { describe, expect, test } from 'vitest'
import { agentConfig, agentOf, type AgentOnCoreos } from '../../coreos/index.js'
import { Probe, VirtualClock } from '../../base/runtime/index.js'
import { startAgentUnit } from './run-agent-unit.js'

const template = (template: 'today' | 'original'): AgentOnCoreos =>
  agentOf(agentConfig({ template, ironicUrls: ['http://192.0.2.1'], image: 'quay.io/team/agent' }))!

/** Runs a unit whose pulls fail `failures` times before one succeeds. */
async function unit(agent: AgentOnCoreos, failures: number, forMs = 60_000) {
  const clock = new VirtualClock()
  const probe = new Probe()
  let pulls = 0
  probe.attach((point, next) => {
    expect(point).toMatchObject({ kind: 'pull', machine: 'm0', image: 'quay.io/team/agent:latest' })
    return pulls++ < failures ? Promise.reject(new Error('manifest unknown')) : next()
  })
  const console: string[] = []
  const controller = new AbortController()
  const say = (line: string) => void console.push(line)
  const running = startAgentUnit(agent, { machine: 'm0', clock, probe, say, signal: controller.signal })
  let runs: boolean | 'stopped' | undefined
  const ended = running.then(
    (outcome) => (runs = outcome),
    () => (runs = 'stopped'),
  )
  await clock.advance(forMs)
  const atEnd = runs
  controller.abort(new Error('power off'))
  await ended
  return { runs: atEnd, afterwards: runs, console, pulls }
}

describe("the unit of the agent's container", () => {
  test('starts the agent when its image can be pulled', async () => {
    expect(await unit(template('today'), 0)).toMatchObject({
      runs: true,
      console: [
        'ironic-agent.service: Trying to pull quay.io/team/agent:latest...',
        'ironic-agent.service: started the container of quay.io/team/agent',
      ],
    })
  })

  test('of today retries for ever, five seconds after each failure', async () => {
    const { runs, afterwards, pulls, console } = await unit(template('today'), Infinity)
    expect({ runs, afterwards, pulls }).toEqual({ runs: undefined, afterwards: 'stopped', pulls: 13 })
    expect(console.slice(0, 6)).toEqual([
      'ironic-agent.service: Trying to pull quay.io/team/agent:latest...',
      'ironic-agent.service: Error: manifest unknown',
      'systemd[1]: ironic-agent.service: Main process exited, code=exited, status=125/n/a',
      "systemd[1]: ironic-agent.service: Failed with result 'exit-code'.",
      'systemd[1]: Failed to start ironic-agent.service.',
      'systemd[1]: ironic-agent.service: Scheduled restart job, restart counter is at 1.',
    ])
  })

  test('starts the agent when a retried pull succeeds', async () => {
    expect(await unit(template('today'), 3)).toMatchObject({ runs: true, pulls: 4 })
  })

  test('of the original template pulls first, and does not retry', async () => {
    const { runs, pulls, console } = await unit(template('original'), 1)
    expect({ runs, pulls }).toEqual({ runs: false, pulls: 1 })
    expect(console).toContain('systemd[1]: ironic-agent.service: Control process exited, code=exited, status=125/n/a')
  })

  test('is given up by systemd when it starts too often', async () => {
    const restart = { when: 'always', delay: 100, limit: { starts: 5, within: 10_000 } }
    const { runs, pulls, console } = await unit({ ...template('today'), restart }, Infinity)
    expect({ runs, pulls }).toEqual({ runs: false, pulls: 5 })
    expect(console.at(-2)).toBe('systemd[1]: ironic-agent.service: Start request repeated too quickly.')
  })

  test('fails after the pull for a missing file that it mounts, before it for a missing auth file', async () => {
    const agent = template('original')
    const mounted = await unit({ ...agent, missingFiles: ['/etc/ipa.conf'] }, 0)
    expect(mounted).toMatchObject({ runs: false, pulls: 1 })
    expect(mounted.console).toContain('ironic-agent.service: Error: statfs /etc/ipa.conf: no such file or directory')
    const pull = { ...agent.pull, authFile: '/etc/authfile.json' }
    const secret = await unit({ ...agent, pull, missingFiles: ['/etc/authfile.json'] }, 0)
    expect(secret).toMatchObject({ runs: false, pulls: 0 })
    expect(secret.console[0]).toMatch(/Error: credential file is not accessible: stat \/etc\/authfile\.json/)
  })
})
