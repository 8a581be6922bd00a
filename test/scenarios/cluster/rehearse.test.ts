import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { smallLiveImage } from '../../../coreos/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { rehearse, type Scenario, type StoryLine } from '../../../apps/cluster/index.js'
import { playedStory, storyNamed } from '../../kit/cluster/played-story.js'
import { hours, silent } from '../../../base/runtime/index.js'

/** Stories play in seconds; `test/soak/rehearsals.test.ts` plays all of them, with every behaviour taken away. */
const played = (name: string, without?: readonly string[]) => playedStory(name, 'document', without)

test.each([
  'ironic-after-images',
  'agent-container',
  'skew',
  'shared-base',
  'downgrade',
  'ironic-forgets',
  'scale-down',
  'wrong-password',
  'full-boot-partition',
])('the story %s goes as the documents tell it', async (name) => {
  const { end, lines } = await played(name)
  expect(end).toMatchObject({ holds: true, failures: [] })
  for (const line of lines)
    expect(line).toMatchObject({ scenario: name, actor: expect.stringMatching(/^[a-z]+$/) as string })
  expect(lines.filter(({ event }) => event === 'check')).toHaveLength(end.checks)
})

test('the deploy image of a release from before CoreOS is its kernel and ramdisk, after a rollback too', async () => {
  const qcow2 = storyNamed('qcow2-clusters', 'document')
  const spares = (release: string) => ({ expect: { deployImage: release, of: 'spares' as const } })
  const settled = [{ wait: 'upgrade' as const }, { wait: 'spares' as const }]
  const back = [{ upgrade: 'BEFORE', force: true }, ...settled]
  const steps = [spares('BEFORE'), { upgrade: 'A' }, ...settled, spares('A'), ...back, spares('BEFORE'), spares('A')]
  const options = { logger: silent, signal: new AbortController().signal, onLine: () => {} }
  const end = await rehearse({ ...qcow2, cluster: { release: 'BEFORE', spares: 2 }, steps }, options)
  expect(end.failures).toEqual([
    expect.stringMatching(/spare-\d has kernel and ramdisk from before CoreOS|has the deploy image of 4\.10\.0/),
  ])
  expect(end.checks).toBe(4)
})

test('a wait for the nodes of a paused pool ends, and says that the pool is paused', async () => {
  const story = storyNamed('paused-pool', 'today')
  const steps = story.steps.filter((step) => !('resume' in step))
  const options = { logger: silent, signal: new AbortController().signal, onLine: () => {} }
  const end = await rehearse({ ...story, steps }, options)
  expect(end.holds).toBe(false)
  expect(end.failures.join('\n')).toContain(
    'the pool worker is paused, so its nodes are not updated: resume it before this step',
  )
  expect(end.elapsed).toBeLessThan(hours(12) / 1000)
})

test('a release can be of a live ISO and a disk image of one’s own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-rehearse-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const iso = join(folder, 'mine.iso')
  const metal = join(folder, 'mine.raw.xz')
  const image = smallLiveImage({ name: 'fcos', version: '44.20260707.3.1', architecture: 'x86_64' })
  await writeFile(iso, image.iso)
  await copyFile(REHEARSAL_IMAGE, metal)
  const lines: StoryLine[] = []
  const scenario: Scenario = {
    name: 'own',
    title: 'Own images',
    cluster: { release: 'A', spares: 1 },
    releases: { A: { version: '4.16.0', iso, metal, family: 'fcos' } },
    steps: [{ expect: { deployImage: 'A', of: 'spares' } }],
  }
  const options = {
    logger: silent,
    signal: new AbortController().signal,
    onLine: (line: StoryLine) => lines.push(line),
  }
  expect(await rehearse(scenario, options)).toMatchObject({ holds: true })
  expect(JSON.stringify(lines)).toContain('has the deploy image of 4.16.0 (44.20260707.3.1)')
  const missing = { ...scenario, releases: { A: { version: '4.16.0', iso: join(folder, 'none.iso') } } }
  await expect(rehearse(missing, options)).rejects.toThrow('none.iso of the scenario cannot be read')
})

test('the same seed tells the same story', async () => {
  const one = await played('agent-container')
  const other = await played('agent-container')
  expect(JSON.stringify(one.lines)).toBe(JSON.stringify(other.lines))
})

test.each([
  ['ironic-after-images', 'bmo/reboots-waiting-hosts', 'keep running the deploy image from before'],
  ['ironic-after-images', 'cbo/restarts-ironic', 'stay on the old one'],
  ['ironic-after-images', 'cbo/updates-image-service-first', 'into an image that is replaced while they boot'],
  ['skew', 'mco/names-boot-image-skew', 'no condition shows which one'],
  ['downgrade', 'cvo/refuses-downgrades', 'is downgraded below its first release'],
  ['ironic-forgets', 'bmo/adopts', 'treats running nodes as free machines'],
  ['scale-down', 'mao/drains-before-deletion', 'powered off under its workloads'],
  ['full-boot-partition', 'mco/validates-after-reboot', 'counts as updated'],
])('the story %s fails without %s, and says what would happen in a real cluster', async (name, without, means) => {
  const { end } = await played(name, [without])
  expect(end.holds).toBe(false)
  expect(end.failures.at(-1)).toContain(`without ${without}: `)
  expect(end.failures.at(-1)).toContain(means)
})

test('a story ends although a program of a node is in the middle of its work', async () => {
  // The nodes pull their new image when the last check is made.
  const { end } = await played('held-upgrade', ['cvo/waits-for-operators'])
  expect(end.failures[0]).toMatch(/the upgrade is failing \(baremetal\); but it is completed/)
}, 60_000)

test('a story that is ended by a signal ends at once, wherever it is', async () => {
  const whole: StoryLine[] = (await played('agent-container')).lines
  for (let at = 1; at < whole.length; at += Math.ceil(whole.length / 6)) {
    const ending = new AbortController()
    const lines: StoryLine[] = []
    const onLine = (line: StoryLine): void => {
      lines.push(line)
      if (lines.length === at) ending.abort(new Error('stopped'))
    }
    const ended = rehearse(storyNamed('agent-container', 'document'), { logger: silent, signal: ending.signal, onLine })
    await expect(ended, `stopped at line ${at}`).rejects.toThrow('stopped')
    expect(whole.length - lines.length, `lines left after line ${at}`).toBeGreaterThan(0)
  }
}, 60_000)
