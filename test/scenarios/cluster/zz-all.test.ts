import { test } from 'vitest'
import { rehearse, STORIES, storiesOf } from '/work/wt/worlds/apps/cluster/index.js'
import { silent } from '/work/wt/worlds/base/runtime/index.js'
test('all', async () => {
  for (const as of (process.env['ERAS'] ?? 'document,today').split(',') as ('today'|'document')[]) {
    const began = Date.now()
    for (const story of storiesOf(as)) {
      if (process.env['ONLY'] && !process.env['ONLY'].split(',').includes(story.name)) continue
      const t = Date.now()
      const end = await rehearse(story, { as, logger: silent, signal: new AbortController().signal, without: (process.env['WITHOUT'] ?? '').split(',').filter(Boolean), onLine: (line) => { if (process.env['LINES']) console.log(JSON.stringify(line)) } })
      console.log(as, story.name, end.holds ? 'holds' : 'FAILS', `${((Date.now() - t)/1000).toFixed(1)}s`, `lab ${Math.round(end.elapsed/60)}min`, end.failures)
    }
    console.log(as, 'total', (Date.now() - began) / 1000)
  }
}, 600_000)
