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
