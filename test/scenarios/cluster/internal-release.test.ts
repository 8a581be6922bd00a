import { expect, test } from 'vitest'
import { playedStory } from '../../kit/cluster/played-story.js'

test.each(['internal-release', 'registry-of-your-own', 'internal-registries-away'])(
  'the story %s of a cluster without a registry goes as it is told',
  async (name) => {
    const { end } = await playedStory(name, 'today')
    expect(end).toMatchObject({ holds: true, failures: [] })
  },
)

test.each([
  ['internal-release', 'mco/serves-the-release-from-nodes', 'each of the nodes runs 4.22.0'],
  ['internal-release', 'mco/guards-the-internal-release', 'the deletion of InternalReleaseImage/cluster is refused'],
  ['internal-registries-away', 'mco/reports-the-internal-release', 'Degraded of InternalReleaseImage/cluster is True'],
  ['registry-of-your-own', 'mco/keeps-the-stamp-of-the-registry', 'the pool of the control plane is not rendered'],
  ['registry-of-your-own', 'mco/stops-the-internal-registry', 'each of the control plane serves no internal release'],
])('%s without %s fails: %s', async (name, without, check) => {
  const { end } = await playedStory(name, 'today', [without])
  expect(end.holds).toBe(false)
  expect(end.failures.join('\n')).toContain(check)
})

test('the registry stops without a reboot, and its unit goes on as an empty one', async () => {
  const { lines } = await playedStory('registry-of-your-own', 'today')
  const acts = lines.flatMap((line) => (line.event === 'act' ? [`${line.does}: ${line.because ?? ''}`] : []))
  expect(acts).toContain(
    'updates host-1 without a reboot: the change restarts iri-registry.service, restarts coreos-update-ca-trust.service, reloads systemd',
  )
})
