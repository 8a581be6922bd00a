import { expect, test } from 'vitest'
import { playedStory } from '../../kit/cluster/played-story.js'

test.each([
  'ironic-after-images',
  'inspecting-hosts',
  'inspection-times-out',
  'worker-in-mid-upgrade',
  'legacy-cluster',
  'managed-boot-images',
  'image-service-unseen',
  'ironic-unavailable',
  'giant-hop',
  'scale-up',
])('the story %s goes as it goes today', async (name) => {
  const { end, lines } = await playedStory(name, 'today')
  expect(end).toMatchObject({ holds: true, failures: [] })
  expect(lines[0]).toMatchObject({ event: 'begin', as: 'today' })
  // Nothing that a design document alone asks for is played.
  expect(lines.filter((line) => 'document' in line && line.event !== 'begin')).toEqual([])
})

test('acts and checks of a design document say which, where today’s operators do not do so', async () => {
  const { lines } = await playedStory('ironic-after-images', 'document')
  const marked = lines.flatMap((line) =>
    line.event === 'begin' || !('document' in line) ? [] : [line.event === 'act' ? line.does : line.event],
  )
  expect(marked).toContain('rolls out metal3-image-customization again')
  expect(marked).toContain('has host-1 inspected again')
  expect(marked.filter((one) => one === 'check')).toHaveLength(2)
})

test('today’s order, in the words of the operator: metal3 first, and the version before all', async () => {
  const { lines } = await playedStory('ironic-after-images', 'today')
  const acts = lines.flatMap((line) => (line.event === 'act' && line.actor === 'cbo' ? [line.does] : []))
  expect(acts.slice(acts.indexOf('reports 4.15.0'))).toEqual([
    'reports 4.15.0',
    'rolls out metal3 again',
    'rolls out metal3-baremetal-operator again',
    'cannot roll out metal3-image-customization yet',
    'rolls out metal3-image-customization again',
  ])
})

test('behaviours that came with a release are there from that release on, in one upgrade', async () => {
  const { lines } = await playedStory('legacy-cluster', 'today')
  const acts = lines.flatMap((line) => (line.event === 'act' && line.actor === 'mco' ? [line.does] : []))
  const enforced = acts.filter((does) => does.startsWith('sets the enforcement of boot image skew'))
  // Releases before 4.22 do not enforce it.
  expect(enforced).toEqual([
    'sets the enforcement of boot image skew to Manual with boot images of 4.9.0',
    'sets the enforcement of boot image skew to None',
  ])
  const installed = acts.indexOf('reports 4.9.0')
  expect(acts.indexOf('reports 4.22.0')).toBeGreaterThan(installed)
  expect(acts.indexOf(enforced[0]!)).toBeGreaterThan(installed)
})

test.each([
  ['image-service-unseen', 'cbo/ignores-the-image-service', 'the upgrade fails with it'],
  ['legacy-cluster', 'mco/enforces-boot-image-skew', 'cannot be installed from its boot images any more'],
  ['managed-boot-images', 'mco/refuses-managed-boot-images', 'nothing manages them'],
])('as of today the story %s fails without %s', async (name, without, means) => {
  const { end } = await playedStory(name, 'today', [without])
  expect(end.holds).toBe(false)
  expect(end.failures.at(-1)).toContain(means)
})
