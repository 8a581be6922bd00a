import { writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { documentText } from '../../coreos/index.js'
import { buildMeta } from '../kit/builds.js'
import { registryServer } from '../kit/registry/registry-server.js'
import { DIGEST, releaseParts, type ReleaseParts } from '../kit/registry/release-parts.js'
import { rhelStream } from '../kit/streams.js'

const OLD = '9.6.20260112-0'
const NEW = '10.2.20260715-0'

let parts: ReleaseParts
beforeEach(async () => {
  parts = await releaseParts()
  const settings = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'settings', namespace: 'default' },
    data: { a: 'b' },
  }
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } }
  await writeFile(parts.at('0000_40_own_01_settings.yaml'), [settings, role].map((one) => stringify(one)).join('---\n'))
})
afterEach(() => parts[Symbol.asyncDispose]())

async function release(dest: string, version: string, coreos: string, ...argv: string[]): Promise<string> {
  const { at, write } = parts
  await writeFile(at(`${coreos}.json`), documentText(rhelStream({ version: coreos, name: 'rhel' })))
  await writeFile(at(`${coreos}-build.json`), documentText(buildMeta('x86_64', { name: 'rhcos', version: coreos })))
  const own = ['--stream', at(`${coreos}.json`), '--build', at(`${coreos}-build.json`)]
  const made = await write(dest, '--version', version, ...argv, ...own)
  if (made.code !== 0) throw new Error(made.stderr)
  return made.stdout.trim()
}

async function played(scenario: object, ...argv: string[]) {
  await writeFile(parts.at('mine.yaml'), stringify(scenario))
  const { code, stdout, stderr } = await parts.ran('rehearse', 'upgrade', '--json', ...argv, parts.at('mine.yaml'))
  const lines = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { code, stderr, lines, does: lines.map(({ actor, does }) => `${String(actor)} ${String(does)}`) }
}

const UPGRADE = {
  name: 'own',
  title: 'Releases of our own',
  as: 'document',
  cluster: { release: 'now', workers: 1, spares: 1 },
  steps: [
    { expect: { runs: 'now', of: 'workers' } },
    { upgrade: 'next' },
    { wait: 'upgrade' },
    { wait: 'pools' },
    { wait: 'spares' },
    { expect: { upgrade: 'completed' } },
    { expect: { deployImage: 'next', of: 'spares' } },
    { expect: { agent: 'next', of: 'spares' } },
    { expect: { runs: 'next', of: 'workers' } },
    { expect: { bootImageOf: 'machine sets', is: 'next' } },
    { expect: { skew: [] } },
  ],
}

test.each(['connected', 'disconnected'])(
  'a %s cluster is upgraded from one release image to another, whose manifests are applied',
  async (network) => {
    await using registry = await registryServer()
    const now = await release(`oci:${parts.at('layout')}`, '4.21.0', OLD)
    const component = ['--component', `ironic-agent=quay.io/our/agent@${DIGEST}`]
    const next = await release(
      `${registry.host}/release:next`,
      '4.22.0',
      NEW,
      '--manifest',
      parts.at('0000_40_own_01_settings.yaml'),
      ...component,
    )
    const { code, lines, does } = await played({
      ...UPGRADE,
      cluster: { ...UPGRADE.cluster, network },
      releases: { now: { release: now }, next: { release: next } },
    })
    expect(lines.at(-1)).toMatchObject({ holds: true, failures: [] })
    expect(code).toBe(0)
    expect(does).toContain('administrator installs 4.21.0')
    expect(does).toContain('cvo completes the update to 4.22.0')
    expect(does.filter((one) => /^cvo applies .*own/.test(one)).length).toBeGreaterThan(0)
    expect(lines).toContainEqual(
      expect.objectContaining({
        does: 'leaves out manifests of 4.22.0',
        because: 'nothing acts on them here: 1 ClusterRole',
      }),
    )
    const checks = lines.filter(({ event }) => event === 'check').map(({ expects }) => String(expects))
    expect(checks.some((one) => one.includes(`4.22.0 (${NEW})`))).toBe(true)
  },
)

test('builds of another version than the default stream are named as skew', async () => {
  const now = await release(`oci:${parts.at('now')}`, '4.21.0', OLD)
  // The builds are those of the second stream, so the release itself is in order.
  await writeFile(parts.at('newer.json'), documentText(rhelStream({ version: NEW, name: 'rhel-10' })))
  const next = await release(`oci:${parts.at('mixed')}`, '4.22.0', OLD, '--stream', parts.at('newer.json'))
  const { code, lines } = await played({
    ...UPGRADE,
    releases: { now: { release: now }, next: { release: next } },
    steps: [
      { upgrade: 'next' },
      { wait: 'upgrade' },
      { wait: 'nodes' },
      { expect: { skew: ['coreos-bootimages', 'release payload'] } },
    ],
  })
  expect(lines.at(-1)).toMatchObject({ holds: true, failures: [] })
  expect(code).toBe(0)
})

test('a release image with two streams has both, and a pool goes to the second', async () => {
  await writeFile(parts.at('ten.json'), documentText(rhelStream({ version: NEW, name: 'rhel-10' })))
  const both = ['rhel-coreos-10', 'rhel-coreos-10-extensions'].flatMap((tag) => [
    '--component',
    `${tag}=quay.io/our/${tag}@${DIGEST}`,
  ])
  const now = await release(`oci:${parts.at('two')}`, '4.22.0', OLD, ...both, '--stream', parts.at('ten.json'))
  const { code, lines } = await played({
    ...UPGRADE,
    as: 'today',
    releases: { now: { release: now } },
    steps: [
      { expect: { runs: 'now', of: 'workers', stream: 'rhel-9' } },
      { poolStream: 'rhel-10', of: 'workers' },
      { wait: 'nodes' },
      { expect: { runs: 'now', of: 'workers', stream: 'rhel-10' } },
    ],
  })
  expect(lines.at(-1)).toMatchObject({ holds: true, failures: [] })
  expect(code).toBe(0)
  const checks = lines.filter(({ event }) => event === 'check').map(({ expects }) => String(expects))
  expect(checks.at(-1)).toContain(`4.22.0 (${NEW})`)
})

test('a release that contradicts the file, is none, or cannot be reached is refused before anything is played', async () => {
  const made = await release(`oci:${parts.at('layout')}`, '4.21.0', OLD)
  const one = (wanted: object) => played({ ...UPGRADE, releases: { now: wanted, next: wanted } })
  const contradiction = await one({ release: made, version: '4.20.0' })
  expect(contradiction).toMatchObject({ code: 2, lines: [] })
  expect(contradiction.stderr).toMatch(/releases\.now is 4\.20\.0 in the file, and oci:.* is 4\.21\.0/)
  const missing = await one({ release: `oci:${parts.at('none')}` })
  expect(missing).toMatchObject({ code: 2, lines: [] })
  expect(missing.stderr).toMatch(/is not a folder in the OCI layout/)
  expect(await one({ coreos: '414.92.202310170514-0' })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/releases\.now lacks version/) as string,
  })
})
