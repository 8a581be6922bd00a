import { expect, test } from 'vitest'
import { playedStory } from '../../kit/cluster/played-story.js'

test.each(['internal-release', 'registry-of-your-own', 'internal-registries-away'])(
  'the story %s of a cluster without a registry goes as it is told',
  async (name) => {
    const { end, lines } = await playedStory(name, 'today')
    if (process.env.SHOW) for (const l of lines) if (l.event==='act'||l.event==='check') console.log(Math.round(l.elapsed), l.actor, l.event==='act'? l.does+' : '+(l.because??'') : `${l.holds} ${l.expects} ${l.found??''}`)
    expect(end).toMatchObject({ holds: true, failures: [] })
  },
)

test.each([
  ['internal-release', 'mco/serves-the-release-from-nodes'],
  ['internal-release', 'mco/guards-the-internal-release'],
  ['internal-registries-away', 'mco/reports-the-internal-release'],
  ['registry-of-your-own', 'mco/keeps-the-stamp-of-the-registry'],
  ['registry-of-your-own', 'mco/stops-the-internal-registry'],
])('without %s %s fails', async (name, without) => {
  const { end } = await playedStory(name, 'today', [without])
  console.log(JSON.stringify(end.failures))
  expect(end.holds).toBe(false)
})
