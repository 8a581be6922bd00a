import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportLines, type UpgradeReport } from '../../apps/cluster/index.js'
import { documentText } from '../../coreos/index.js'
import { buildMeta } from '../kit/builds.js'
import { command } from '../kit/commands/command.js'
import { DIGEST, releaseParts } from '../kit/registry/release-parts.js'
import { rhelStream } from '../kit/streams.js'

/** OpenShift 5.0, installed with 4.22: pools on RHEL 9, one on RHEL 10, and one that is paused on its way there. */
const QUAY = join(import.meta.dirname, '../fixtures/own-cluster-streams')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-own-streams-'))
  await cp(QUAY, folder, { recursive: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function rehearsal(...args: string[]) {
  const run = command(['rehearse', 'upgrade', '--cluster', folder, ...args, '--json'])
  const code = await run.ended
  const lines = run.stdout.trim().split('\n')
  const report = lines
    .map((line) => JSON.parse(line) as UpgradeReport | { event: 'other' })
    .find((line): line is UpgradeReport => line.event === 'report')
  return { code, stderr: run.stderr, stdout: run.stdout, report: report! }
}

async function change(file: string, replaced: string | RegExp, by: string): Promise<void> {
  const path = join(folder, file)
  await writeFile(path, (await readFile(path, 'utf8')).replace(replaced, by))
}

/** As a ContainerRuntimeConfig of the workers writes it. */
const CRIO_WITH_RUNC = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-generated-containerruntime
  labels:
    machineconfiguration.openshift.io/role: worker
spec:
  config:
    ignition:
      version: 3.5.0
    storage:
      files:
      - path: /etc/crio/crio.conf.d/01-ctrcfg-defaultRuntime
        mode: 420
        contents:
          source: data:,${encodeURIComponent('[crio]\n[crio.runtime]\ndefault_runtime = "runc"\n')}
`

test('a cluster with two streams keeps the stream of each pool, and the report says so', async () => {
  const { code, report } = await rehearsal('--to', '5.1.0')
  expect({ code, outcome: report.outcome, notPlayed: report.notPlayed }).toEqual({
    code: 0,
    outcome: 'completed',
    notPlayed: {},
  })
  const layers = 1100 * 2 ** 20
  expect(report.streams).toEqual([
    { stream: 'rhel-10', from: '10.2.20260901-0', to: '10.2.20270101-0', isDefault: false, bytes: layers },
    { stream: 'rhel-9', from: '9.8.20260901-0', to: '9.8.20270101-0', isDefault: true, bytes: 3 * layers },
  ])
  const streams = Object.fromEntries(
    report.pools.map(({ pool, streams: { before, after } }) => [pool, [before, after]]),
  )
  expect(streams).toEqual({
    master: [['rhel-9'], ['rhel-9']],
    worker: [['rhel-9'], ['rhel-9']],
    edge: [['rhel-9'], ['rhel-9']],
    gpu: [['rhel-10'], ['rhel-10']],
    infra: [['rhel-9'], ['rhel-9']],
  })
  const shown = reportLines(report, 100).join('\n')
  expect(shown).toContain('rhel-9, the default: 9.8.20260901-0, then 9.8.20270101-0; pools master, worker, edge, infra')
  expect(shown).toContain('rhel-10: 10.2.20260901-0, then 10.2.20270101-0; pool gpu')
})

/** A release image of 5.1.0 with one stream. */
async function releaseOf(stream: string, system: string, version: string): Promise<string> {
  await using parts = await releaseParts()
  const { at, write } = parts
  await writeFile(at('stream.json'), documentText(rhelStream({ name: stream, version })))
  await writeFile(at('build.json'), documentText(buildMeta('x86_64', { name: 'rhcos', version })))
  const images = [`ironic-agent`, system, `${system}-extensions`]
  const components = images.flatMap((name) => ['--component', `${name}=quay.io/our/${name}@${DIGEST}`])
  const own = ['--version', '5.1.0', '--stream', at('stream.json'), '--build', at('build.json')]
  const dest = join(folder, '..', `${stream}-${process.pid}`)
  const made = await write(`oci:${dest}`, ...own, ...components)
  if (made.code !== 0) throw new Error(made.stderr)
  return dest
}

test('as the design documents have it, which know no streams, the same cluster is upgraded', async () => {
  const { code, report } = await rehearsal('--to', '5.1.0', '--as', 'document')
  expect({ code, outcome: report.outcome }).toEqual({ code: 0, outcome: 'completed' })
})

test('a release without the default stream blocks the upgrade: nothing is rendered', async () => {
  const release = await releaseOf('rhel-10', 'rhel-coreos-10', '10.4.20270301-0')
  const { code, report, stdout } = await rehearsal('--to', release)
  await rm(release, { recursive: true })
  expect({ code, outcome: report.outcome }).toEqual({ code: 1, outcome: 'not completed' })
  const failure =
    'building the OSImageStream: could not find default OSImageStream in the available streams: could not find the requested rhel-9 default stream in the list of OSImageStreams [rhel-10]'
  expect(report.findings.map(({ effect, subject }) => `${effect}: ${subject}`)).toEqual([
    'blocks: OSImageStream cluster',
    'holds back: MachineConfigPool edge',
  ])
  expect(report.findings[0]!.says).toContain(failure)
  expect(report.findings[0]!.says).toContain('Choose rhel-10 before')
  expect(stdout).toContain(`"does":"renders no configuration","because":"${failure}"`)
  expect(report.pools.flatMap(({ reboots }) => reboots)).toEqual([])
  for (const { nodes, rendered, behind } of report.pools)
    expect({ rendered, behind: behind.length }).toEqual({ rendered: false, behind: nodes })
  expect(report.streams).toContainEqual({
    stream: 'rhel-9',
    from: '9.8.20260901-0',
    to: null,
    isDefault: true,
    bytes: 0,
  })
})

test('a release without the stream of one pool blocks the upgrade for that pool, and the others go on', async () => {
  const release = await releaseOf('rhel-9', 'rhel-coreos', '9.9.20270301-0')
  const { code, report } = await rehearsal('--to', release)
  await rm(release, { recursive: true })
  expect({ code, outcome: report.outcome }).toEqual({ code: 1, outcome: 'not completed' })
  const blocking = report.findings.filter(({ effect }) => effect === 'blocks')
  expect(blocking.map(({ subject }) => subject)).toEqual(['MachineConfigPool edge', 'MachineConfigPool gpu'])
  expect(blocking[1]!.says).toContain(
    'could not get OSImageStreamSet for pool gpu: osimagestreams.machineconfiguration.openshift.io "rhel-10" not found',
  )
  const pools = Object.fromEntries(report.pools.map((pool) => [pool.pool, pool]))
  const { gpu, infra } = pools
  expect(gpu).toMatchObject({ rendered: false, reboots: [], streams: { after: ['rhel-10'] } })
  expect(gpu!.behind).toHaveLength(gpu!.nodes)
  expect(infra).toMatchObject({ rendered: true, behind: [] })
  expect(infra!.reboots).toHaveLength(1)
  expect(reportLines(report, 100)).toContainEqual(expect.stringMatching(/^ {2}gpu +0 of 1 .* not rendered$/))
})

test('a cluster of before the streams gets those of 5.0, and stays on RHEL 9', async () => {
  await change('cluster.yaml', /version: 5\.0\.2/g, 'version: 4.23.1')
  await change('cluster.yaml', /- apiVersion: machineconfiguration[^]*(?=kind: List)/, '')
  await change('machineconfigpools.yaml', /\n +osImageStream:\n +name: rhel-\d+/g, '')
  await change('nodes.yaml', /10\.2\./g, '9.8.')
  const { code, report } = await rehearsal('--to', '5.0.0')
  expect({ code, outcome: report.outcome }).toEqual({ code: 0, outcome: 'completed' })
  expect(report.streams.map(({ stream, from, isDefault }) => ({ stream, from, isDefault }))).toEqual([
    { stream: 'rhel-10', from: null, isDefault: false },
    { stream: 'rhel-9', from: null, isDefault: true },
  ])
  expect(report.pools.find(({ pool }) => pool === 'worker')!.streams).toEqual({ before: [], after: ['rhel-9'] })
})

test('a pool with runc keeps the words of its operator, and stays on RHEL 9', async () => {
  const why =
    'Failed to render configuration for pool worker: MachineConfigPool worker targets a RHEL 10 OS image where runc is not available'
  await writeFile(join(folder, 'configs.yaml'), CRIO_WITH_RUNC)
  await change('machineconfigpools.yaml', /name: rhel-10/g, 'name: rhel-9')
  await change('nodes.yaml', /10\.2\./g, '9.8.')
  await change(
    'machineconfigpools.yaml',
    /(kubernetes\.io\/worker: "")\n( {2}status:\n)/,
    `$1\n    osImageStream:\n      name: rhel-10\n$2    conditions:\n    - type: RenderDegraded\n      status: "True"\n      message: "${why}"\n`,
  )
  const { code, report } = await rehearsal('--to', '5.0.9')
  expect({ code, outcome: report.outcome }).toEqual({ code: 1, outcome: 'not completed' })
  const worker = report.findings.find(({ subject }) => subject === 'MachineConfigPool worker')
  expect(worker?.says).toContain(why)
  const pools = Object.fromEntries(report.pools.map((pool) => [pool.pool, pool.streams.after]))
  expect(pools).toMatchObject({ worker: ['rhel-9'], gpu: ['rhel-9'] })
})

test('an OSImageStream with a wrong value is refused with its line', async () => {
  await change('cluster.yaml', '    - name: rhel-10\n', '    - name: ""\n')
  const run = command(['rehearse', 'upgrade', '--cluster', folder])
  expect(await run.ended).toBe(2)
  expect(run.stderr).toMatch(/cluster\.yaml:\d+: the OSImageStream cluster cannot be used: .*availableStreams/)
})

test('a pool that asks for a stream and names an image is not rendered', async () => {
  const config = CRIO_WITH_RUNC.replace(/ {2}config:[^]*/, '  osImageURL: quay.io/lab/node:1\n')
    .replace('99-worker-generated-containerruntime', '99-gpu-image')
    .replace('role: worker', 'role: gpu')
  await writeFile(join(folder, 'image.yaml'), config)
  const { code, report, stderr } = await rehearsal('--to', '5.1.0')
  expect({ code, stderr, outcome: report.outcome }).toEqual({ code: 1, stderr: '', outcome: 'not completed' })
  expect(report.findings.map(({ effect, subject }) => `${effect}: ${subject}`)).toEqual([
    'holds back: MachineConfigPool gpu',
    'blocks: MachineConfigPool gpu',
    'holds back: MachineConfigPool edge',
  ])
  const [, both] = report.findings
  expect(both!.says).toContain('asks for stream rhel-10, and for the node image quay.io/lab/node:1')
})
