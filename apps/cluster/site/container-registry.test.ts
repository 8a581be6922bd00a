import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../base/runtime/index.js'
import { SiteRegistry } from './container-registry.js'
import { SiteNetwork, type Reachability } from './site-network.js'

const MIRRORS = [{ source: 'quay.io/openshift', mirrors: ['mirror.lab:5000/ocp', 'other.lab/ocp'] }]
const IMAGE = 'quay.io/openshift/node@sha256:1'
const signal = new AbortController().signal

function registry(reachability: Reachability, mirrors = MIRRORS) {
  const hosts = mirrors.flatMap((one) => one.mirrors.map((name) => name.split('/')[0]!))
  const network = new SiteNetwork({ clock: new VirtualClock(), reachability, mirrors: hosts })
  const made = new SiteRegistry(network, mirrors)
  made.publish(IMAGE)
  return { registry: made, network }
}

describe('a pull', () => {
  test('takes the mirror where it has the image, connected too', () => {
    const { registry: connected } = registry('connected')
    expect(connected.locate(IMAGE)).toBe(IMAGE)
    connected.mirror(IMAGE)
    expect(connected.locate(IMAGE)).toBe('mirror.lab:5000/ocp/node@sha256:1')
  })

  test('names the registry that a disconnected site does not reach, and the network notes it', async () => {
    const { registry: disconnected, network } = registry('disconnected')
    await expect(disconnected.pull(IMAGE, signal)).rejects.toThrow(
      'pinging container registry quay.io: Get "https://quay.io/v2/": i/o timeout',
    )
    expect(network.refused).toEqual([{ at: Date.UTC(2026, 0, 1), what: IMAGE }])
    disconnected.mirror(IMAGE)
    await disconnected.pull(IMAGE, signal)
    expect(network.refused).toHaveLength(1)
    expect(disconnected.pulled).toEqual(['mirror.lab:5000/ocp/node@sha256:1'])
  })

  test('of an image that no registry has says which manifest is unknown', async () => {
    const { registry: connected } = registry('connected', [])
    await expect(connected.pull('quay.io/openshift/none@sha256:2', signal)).rejects.toThrow(
      'reading manifest sha256:2 in quay.io/openshift/none: manifest unknown',
    )
  })

  test('of a payload that is not the one of its digest fails', async () => {
    const { registry: connected } = registry('connected')
    connected.publish('quay.io/openshift/release@sha256:3', { payload: { version: '4.13.0', manifests: [] } })
    await expect(connected.pull('quay.io/openshift/release@sha256:3', signal)).rejects.toThrow(
      /^manifest digest sha256:[0-9a-f]{64} does not match expected sha256:3$/,
    )
  })
})

test('a mirror is of whole names, not of beginnings of them', () => {
  const { registry: disconnected } = registry('disconnected')
  disconnected.publish('quay.io/openshift-other/x@sha256:4')
  expect(() => disconnected.locate('quay.io/openshift-other/x@sha256:4')).toThrow('i/o timeout')
})

test('registries.conf names source and mirrors, as the image of a host has it', () => {
  expect(registry('connected').registry.registriesConf).toBe(`[[registry]]
  location = "quay.io/openshift"
  mirror-by-digest-only = true

  [[registry.mirror]]
    location = "mirror.lab:5000/ocp"

  [[registry.mirror]]
    location = "other.lab/ocp"
`)
  expect(registry('connected', []).registry.registriesConf).toBeUndefined()
})

test('mirror sets of a cluster: by digest or by tag, the longest source, and a source that is never asked', () => {
  const network = new SiteNetwork({ clock: new VirtualClock(), reachability: 'connected', mirrors: [] })
  const registry = new SiteRegistry(network, [
    { source: 'quay.io/ocp', mirrors: ['one.lab/ocp'], pulls: 'digest', isSourceAsked: false },
    { source: 'quay.io/ocp', mirrors: ['two.lab/ocp'], pulls: 'tag' },
    { source: 'quay.io/ocp/deep', mirrors: ['deep.lab/x'] },
  ])
  for (const image of [
    'one.lab/ocp/a@sha256:1',
    'two.lab/ocp/a:4.22',
    'deep.lab/x/a@sha256:2',
    'quay.io/ocp/b@sha256:3',
  ])
    registry.publish(image)
  expect(registry.locate('quay.io/ocp/a@sha256:1')).toBe('one.lab/ocp/a@sha256:1')
  expect(registry.locate('quay.io/ocp/a:4.22')).toBe('two.lab/ocp/a:4.22')
  expect(registry.locate('quay.io/ocp/deep/a@sha256:2')).toBe('deep.lab/x/a@sha256:2')
  expect(() => registry.locate('quay.io/ocp/b@sha256:3')).toThrow('one.lab/ocp/b: manifest unknown')
  expect(registry.registriesConf).toContain(
    '[[registry]]\n  location = "quay.io/ocp"\n  blocked = true\n\n  [[registry.mirror]]\n    location = "one.lab/ocp"\n    pull-from-mirror = "digest-only"\n',
  )
})
