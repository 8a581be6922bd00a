import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

/** `ironstage up --kube-api --actors all`: a cluster with all of its operators, changed by clients of its API. */

interface ReadyLine {
  event: string
  kube_api_url: string
  version: string
  available: string[]
}
interface VersionObject {
  status: { history: { version: string; state: string }[]; conditions: { type: string; status: string }[] }
}

const VERSION = '/apis/config.openshift.io/v1/clusterversions/version'

test.each(['all', 'bmo,cbo,cvo,icc,mao,mco'])(
  'a patch of the ClusterVersion upgrades the cluster that %s run',
  async (actors) => {
    const up = command(['up', '--kube-api', '0', '--actors', actors, '--clock', 'x300', '--json'])
    await up.printed(/"event":"ready"/)
    const ready = up.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as ReadyLine)
      .find(({ event }) => event === 'ready')!
    expect(ready).toMatchObject({ version: '4.21.0', available: ['4.21.1', '4.22.0'] })
    const version = async (): Promise<VersionObject> =>
      (await (await fetch(`${ready.kube_api_url}${VERSION}`)).json()) as VersionObject
    expect((await version()).status.history[0]).toMatchObject({ version: '4.21.0', state: 'Completed' })
    const answer = await fetch(`${ready.kube_api_url}${VERSION}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ spec: { desiredUpdate: { version: '4.22.0' } } }),
    })
    expect(answer.status).toBe(200)
    await up.printed(/"completes the update to 4\.22\.0"/)
    expect((await version()).status.history[0]).toMatchObject({ version: '4.22.0', state: 'Completed' })
    await up.printed(/"counts pool worker as updated"/)
    up.stop()
    expect(await up.ended).toBe(0)
  },
  60_000,
)

test.each<[string[], RegExp]>([
  [['--actors', 'all,none', '--kube-api', '0'], /--actors all,none: all goes with no other word/],
  [['--actors', 'cvo,none', '--kube-api', '0'], /--actors cvo,none: none goes with no other word/],
  [
    ['--actors', 'cvo,mc', '--kube-api', '0'],
    /--actors names no operator mc; did you mean mcd\?\n.*they are bmo, cbo, cvo, icc, mao, mcd, mco, or none, or all/,
  ],
  [
    ['--actors', 'bmo,machine-config-operater', '--kube-api', '0'],
    /names no operator machine-config-operater; did you mean mco\?/,
  ],
  [['--actors', 'cvo,,mco', '--kube-api', '0'], /--actors lacks a name between its commas/],
  [['--actors', 'cvo,mco'], /--actors cvo,mco needs an API to act on/],
  [['--actors', 'all'], /--actors all needs an API to act on/],
  [['--actors', 'all', '--kube-api', '0', '--nodes', '3'], /--nodes is of a lab with nodes of its own/],
  [['--actors', 'all', '--kube-api', '0', '--clock', 'manual'], /--clock manual: the time of a cluster passes/],
  [['--actors', 'mice', '--kube-api', '0'], /--actors .*mice/],
])('%j is refused', async (args, message) => {
  const up = command(['up', ...args])
  expect(await up.ended).toBe(2)
  expect(up.stderr).toMatch(message)
  expect(up.stdout).toBe('')
})
