import { describe, expect, test } from 'vitest'
import { LabClient } from '../../../control/index.js'
import { seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { hostsYaml } from '../../../test/kit/hardware-lab/hosts-yaml.js'
import { RehearsedRuns } from '../../../test/kit/hardware-lab/rehearsed-run.js'
import { openRehearsal } from '../rehearsal/rehearsal.js'
import { readHosts } from '../hosts/read-hosts.js'
import { RunFollower } from './run-follower.js'
import { openRunPage } from './run-page.js'

const parts = () => ({ clock: systemClock(), random: seededRandom(1), logger: silent })
const follower = () => new RunFollower({ isRehearsal: true, isCheck: false, stages: [] })

describe('calls of the control API while a run continues', () => {
  const CALLS: [string, string, (lab: LabClient) => Promise<unknown>][] = [
    ['a machine is removed', 'the machines of a run are the hosts of its file', (lab) => lab.removeMachine('node-1')],
    [
      'a machine is made new',
      'the machines of a run are the hosts of its file',
      (lab) => lab.reimageMachine('node-1', {}),
    ],
    [
      'the password of its BMC is changed',
      'the machines of a run are the hosts of its file',
      (lab) => lab.bmcAccountOfMachine('node-1', { username: 'a', password: 'b' }),
    ],
    ['the clock is made faster', 'a run uses real time', (lab) => lab.setClock({ mode: 'x10' })],
    ['the clock is moved', 'a run uses real time', (lab) => lab.advance({ by: '1h' })],
    ['a snapshot is taken', 'a run has no snapshots', (lab) => lab.takeSnapshot()],
    ['the lab is reset', 'a run has no snapshots', (lab) => lab.reset()],
    [
      'an agent is silent',
      'no machine here has an agent',
      (lab) => lab.addFault({ match: { machine: 'node-1' }, effect: { kind: 'agent-silent' } }),
    ],
    [
      'a call of an agent fails',
      'no machine here has an agent',
      (lab) => lab.addFault({ match: { route: 'POST /v1/heartbeat' }, effect: { kind: 'status', status: 503 } }),
    ],
    [
      'a step of an agent hangs',
      'no machine here has an agent',
      (lab) => lab.addFault({ match: { machine: 'node-1', step: 'install_coreos' }, effect: { kind: 'hang' } }),
    ],
    [
      'a node is matched',
      'are in an Ironic elsewhere, which tells no node here',
      (lab) => lab.addFault({ match: { node: 'lab~worker-0' }, effect: { kind: 'bmc-silent' } }),
    ],
  ]

  test('what would break it is refused, and its machines stay unchanged', async () => {
    await using runs = await RehearsedRuns.make(hostsYaml(1))
    const file = await readHosts(`${runs.folder}/hosts.yaml`)
    const followed = follower()
    await using rehearsal = await openRehearsal({
      file,
      hosts: file.hosts,
      faults: [],
      folder: `${runs.folder}/lab`,
      variables: {},
      run: followed.progress,
      ...parts(),
    })
    await using page = await openRunPage(followed, { control: rehearsal.control, ...parts() })
    const lab = new LabClient(new URL(page.url).origin)
    const before = await lab.machines()
    for (const [what, problem, call] of CALLS) await expect(call(lab), what).rejects.toThrow(problem)
    expect(await lab.machines()).toEqual(before)
    expect(await lab.faults()).toEqual({ faults: [] })
    const allowed = {
      match: { machine: 'node-1', bmc: 'read power' },
      effect: { kind: 'status', status: 401 },
    } as const
    await lab.addFault(allowed)
    expect(await lab.faults()).toMatchObject({ faults: [allowed] })
  })

  test('real hosts take no faults', async () => {
    await using page = await openRunPage(follower(), parts())
    const lab = new LabClient(new URL(page.url).origin)
    const fault = { match: {}, effect: { kind: 'bmc-silent' } } as const
    await expect(lab.addFault(fault)).rejects.toThrow('the hosts of this run are real')
  })
})
