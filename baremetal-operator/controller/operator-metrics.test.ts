import { expect, test } from 'vitest'
import { OperatorMetrics } from './operator-metrics.js'

const linesOf = (metrics: OperatorMetrics, name: string): string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => line.includes(name))

test('counters without labels are there from the start, others once there is something to count', () => {
  const metrics = new OperatorMetrics()
  expect(linesOf(metrics, 'metal3_host_unmanaged_total')).toEqual([
    '# HELP metal3_host_unmanaged_total Number of times a host is found to be unmanaged',
    '# TYPE metal3_host_unmanaged_total counter',
    'metal3_host_unmanaged_total 0',
  ])
  expect(linesOf(metrics, 'metal3_reconcile_total')).toEqual([])
  // The operator counts these two, and registers neither.
  expect(metrics.text()).not.toContain('waiting_for_preprov_image')
  expect(metrics.text()).not.toContain('without_powering_off')
})

test('labels are in the order of their names, and their values are escaped', () => {
  const metrics = new OperatorMetrics()
  metrics.count('metal3_provisioning_state_change_total', { prev_state: '', new_state: 'a "b"\\\n' })
  metrics.count('metal3_provisioning_state_change_total', { prev_state: '', new_state: 'a "b"\\\n' })
  expect(linesOf(metrics, '_change_total{')).toEqual([
    String.raw`metal3_provisioning_state_change_total{new_state="a \"b\"\\\n",prev_state=""} 2`,
  ])
})

test('a histogram has the values up to each limit', () => {
  const metrics = new OperatorMetrics()
  for (const value of [20, 100, 5000])
    metrics.observe('metal3_operation_inspect_duration_seconds', { namespace: 'metal3', host: 'one' }, value)
  const of = 'metal3_operation_inspect_duration_seconds'
  const labels = 'host="one",namespace="metal3"'
  expect(linesOf(metrics, `${of}_`)).toEqual([
    `${of}_bucket{${labels},le="30"} 1`,
    `${of}_bucket{${labels},le="90"} 1`,
    `${of}_bucket{${labels},le="180"} 2`,
    `${of}_bucket{${labels},le="360"} 2`,
    `${of}_bucket{${labels},le="720"} 2`,
    `${of}_bucket{${labels},le="1440"} 2`,
    `${of}_bucket{${labels},le="+Inf"} 3`,
    `${of}_sum{${labels}} 5120`,
    `${of}_count{${labels}} 3`,
  ])
})
