import { test } from 'vitest'
import { rehearse, storyLines, type Scenario } from '/work/wt/worlds/apps/cluster/index.js'
import { silent } from '/work/wt/worlds/base/runtime/index.js'
const A = { version: '4.21.0', coreos: '9.6.20251015.1' }
const B = { version: '4.22.0', coreos: '9.6.20260320.0' }
test('one', async () => {
  for (const after of (process.env['AFTER'] ?? '30s').split(',')) {
    const scenario: Scenario = {
      name: 'inspecting',
      title: 'x',
      releases: { A, B },
      cluster: { release: 'A' },
      steps: [
        { connect: 1 },
        { wait: 'time', within: after },
        { upgrade: 'B' },
        { wait: 'upgrade' },
        { wait: 'spares', within: process.env['W'] ?? '3h' },
        { expect: { state: 'available', of: 'spares' } },
        { expect: { deployImage: 'B', of: 'spares' } },
        { expect: { error: 'none', of: 'spares' } },
      ],
    }
    await rehearse(scenario, {
      as: 'today',
      logger: process.env['DBG']
        ? (l, m, f) => {
            if (l !== 'debug') console.log(l, m)
          }
        : silent,
      signal: new AbortController().signal,
      onLine: (line) => console.log(storyLines(line, 120).join('\n')),
    })
  }
}, 600_000)
