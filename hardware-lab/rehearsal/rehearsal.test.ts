import { expect, test } from 'vitest'
import { hostsYaml, RehearsedRuns } from '../../test/kit/hardware-lab/rehearsed-run.js'

test('a rehearsed host goes through every stage, over Redfish and SSH, to a proven first boot', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(1, 'post-checks: [{command: cat /etc/greeting, output: hello}]'))
  await runs.open([], (level, message) => { if (process.env['SHOW']) console.log(level, message) })
  const report = await runs.run()
  if (process.env['SHOW']) console.log(JSON.stringify(report, null, 1))
  expect(report.ok).toBe(true)
  expect(report.hosts[0]!.stages.map(({ stage, status }) => `${stage} ${status}`)).toEqual([
    ...['bmc done', 'boot done', 'ssh done', 'check done', 'steps done', 'power done', 'first-boot done'],
    'post-checks done',
  ])
})
