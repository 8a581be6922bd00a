import { stringify } from 'yaml'
import { describe, expect, test } from 'vitest'
import { readScenario } from './read-scenario.js'
import { STORIES } from './stories/index.js'

const GOOD = `name: mine
title: Mine
releases:
  now: { version: 4.14.0, coreos: 414.92.202310170514-0 }
  next: { version: 4.15.0, coreos: 415.92.202402201450-0 }
cluster: { release: now, workers: 1 }
steps:
  - upgrade: next
  - wait: upgrade
  - expect: { runs: next, of: workers }
`

const refusal = (text: string): string => {
  try {
    readScenario('mine.yaml', text)
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

describe('a scenario file', () => {
  test('is YAML, or JSON', () => {
    const read = readScenario('mine.yaml', GOOD)
    expect(read).toMatchObject({ name: 'mine', steps: [{ upgrade: 'next' }, { wait: 'upgrade' }, {}] })
    expect(readScenario('mine.json', JSON.stringify(read))).toEqual(read)
  })

  test.each(STORIES.map((story) => [story.name, story] as const))('the story %s could be a file', (_, story) => {
    expect(readScenario('story.yaml', stringify(story))).toEqual(story)
  })

  test.each([
    ['a step that does not exist', ['- wait: upgrade', '- sleep: 1h'], '9:12: a step is one of: upgrade, wait,'],
    [
      'an expectation that does not exist',
      ['runs: next', 'walks: next'],
      '10:22: an expectation is one of: deployImage,',
    ],
    [
      'a release that does not exist',
      ['- upgrade: next', '- upgrade: later'],
      '8:14: there is no release later among: now, next',
    ],
    ['a release in an expectation', ['runs: next', 'runs: never'], 'there is no release never among: now, next'],
    ['an unknown key', ['workers: 1', 'worker: 1'], 'cluster has no key worker'],
    ['a wrong value', ['workers: 1', 'workers: many'], '6:35: cluster.workers must be integer'],
    ['a group that does not exist', ['of: workers', 'of: servers'], 'steps.2.expect.of is one of: spares, workers'],
    [
      'a release without a version of CoreOS',
      [', coreos: 415.92.202402201450-0', ''],
      'names neither coreos, a version, nor an iso',
    ],
    ['a wait for nothing', ['- wait: upgrade', '- wait: time'], 'steps.1 lacks within'],
    [
      'a detail with one value only',
      ['- wait: upgrade', '- connect: 1\n    password: right'],
      'steps.1.password can only be wrong',
    ],
    [
      'a release whose image is named',
      ['- upgrade: next', '- { upgrade: next, image: later }'],
      'there is no release later among: now, next',
    ],
    [
      'a stream that no release has',
      ['- wait: upgrade', '- { poolStream: rhel-10, of: workers }'],
      'there is no stream rhel-10: no release names any with streams',
    ],
    [
      'a stream that the release does not have',
      ['{ runs: next, of: workers }', '{ runs: next, of: workers, stream: rhel-10 }'],
      'there is no stream rhel-10: no release names any with streams',
    ],
    [
      'a cloud that is not played',
      ['workers: 1', 'workers: 1, platform: OpenStack'],
      'cluster.platform is one of: BareMetal',
    ],
    [
      'hosts on a cloud',
      ['workers: 1', 'workers: 1, platform: GCP, spares: 1'],
      'cluster.spares is about hosts: GCP has none',
    ],
    [
      'a step about hosts on a cloud',
      ['workers: 1 }\nsteps:', 'workers: 1, platform: GCP }\nsteps:\n  - connect: 1'],
      'connect is about hosts: a cluster on GCP has none',
    ],
    [
      'a control plane that serves its release before it could',
      ['workers: 1', 'workers: 1, network: internal, controlPlane: 1'],
      'cluster.network: internal needs a release from 4.22 on, and now is 4.14.0',
    ],
    [
      'a registry on no control plane',
      [
        'next: { version: 4.15.0, coreos: 415.92.202402201450-0 }\ncluster: { release: now,',
        'next: { version: 4.22.0, coreos: 9.6.20260701.0 }\ncluster: { release: next, network: internal,',
      ],
      'cluster.network: internal needs nodes of the control plane: controlPlane: 1',
    ],
    [
      'a step about that registry in another cluster',
      ['- wait: upgrade', '- mirror: next'],
      'mirror is about a cluster that was installed without a registry: network: internal',
    ],
    ['no title', ['title: Mine\n', ''], 'lacks title'],
    ['no YAML', ['steps:', 'steps: ['], 'this is not YAML'],
    ['no YAML, whose line is shown', ['title: Mine', 'title: Mine: b'], '\ntitle: Mine: b\n       ^'],
  ] as [string, [string, string], string][])('%s is refused with its place', (_, [from, to], message) => {
    const text = refusal(GOOD.replace(from, to))
    expect(text).toMatch(/^mine\.yaml:\d+:\d+: /)
    expect(text).toContain(message)
  })

  test('a key that is a step too can stand before the step that it belongs to', () => {
    const text = GOOD.replace('- wait: upgrade', '- { network: missing, password: wrong, connect: 1 }')
    expect(readScenario('mine.yaml', text).steps[1]).toEqual({ network: 'missing', password: 'wrong', connect: 1 })
  })

  test('nesting thousands deep is refused', () => {
    expect(refusal(`a: ${'['.repeat(20_000)}`)).toMatch(/mine\.yaml/)
  })
})
