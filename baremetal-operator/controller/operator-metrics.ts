/** Buckets of the Prometheus client for Go, in seconds. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SLOW_BUCKETS = [30, 90, 180, 360, 720, 1440]
const OF_HOST = ['namespace', 'host']

interface MetricForm {
  readonly help: string
  /** Names of its labels. A metric without labels is there from the start. */
  readonly labels?: readonly string[]
  /** Limits of a histogram; others are counters. */
  readonly buckets?: readonly number[]
}

/**
 * The metrics of BareMetal Operator (internal/controller/metal3.io/metrics.go of 02aa505). Two of its counters are never
 * registered, so that no one can read them: metal3_waiting_for_preprov_image_total, metal3_delete_without_powering_off_total.
 */
const METRICS = {
  metal3_reconcile_total: { help: 'The number of times hosts have been reconciled', labels: OF_HOST },
  metal3_reconcile_error_total: { help: 'The number of times the operator has failed to reconcile a host' },
  metal3_host_error_total: { help: 'The number of times hosts have entered an error state', labels: ['error_type'] },
  metal3_operation_power_change_total: {
    help: 'Number of times a host has been powered on or off',
    labels: [...OF_HOST, 'on_off'],
  },
  metal3_delayed__provisioning_total: {
    help: 'The number of times hosts have been delayed while provisioning due a busy provisioner',
    labels: OF_HOST,
  },
  metal3_delayed__deprovisioning_total: {
    help: 'The number of times hosts have been delayed while deprovisioning due a busy provisioner',
    labels: OF_HOST,
  },
  metal3_operation_register_duration_seconds: {
    help: 'Length of time per registration per host',
    labels: OF_HOST,
    buckets: DEFAULT_BUCKETS,
  },
  metal3_operation_inspect_duration_seconds: {
    help: 'Length of time per hardware inspection per host',
    labels: OF_HOST,
    buckets: SLOW_BUCKETS,
  },
  metal3_operation_provision_duration_seconds: {
    help: 'Length of time per hardware provision operation per host',
    labels: OF_HOST,
    buckets: SLOW_BUCKETS,
  },
  metal3_operation_deprovision_duration_seconds: {
    help: 'Length of time per hardware deprovision operation per host',
    labels: OF_HOST,
    buckets: SLOW_BUCKETS,
  },
  metal3_credentials_missing_total: { help: "Number of times a host's credentials are found to be missing" },
  metal3_credentials_invalid_total: { help: "Number of times a host's credentials are found to be invalid" },
  metal3_credentials_unhandled_error_total: {
    help: "Number of times getting a host's credentials fails in an unexpected way",
  },
  metal3_credentials_updated_total: { help: "Number of times a host's credentials change" },
  metal3_credentials_no_management_access_total: {
    help: 'Number of times a host management interface is unavailable',
  },
  metal3_host_config_data_error_total: {
    help: 'Number of times the operator has failed to retrieve host configuration data',
    labels: ['host_data_type'],
  },
  metal3_provisioning_state_change_total: {
    help: 'Number of times a state transition has occurred',
    labels: ['prev_state', 'new_state'],
  },
  metal3_host_registration_required_total: { help: 'Number of times a host is found to be unregistered' },
  metal3_host_unmanaged_total: { help: 'Number of times a host is found to be unmanaged' },
  metal3_delete_without_deprovisioning_total: {
    help: 'Number of times a host is deleted despite deprovisioning failing',
  },
  metal3_provisioner_not_ready_total: { help: 'Number of times a host is not provision ready' },
  metal3_delete_delayed_for_detached_total: {
    help: 'Number of times a host delete action was delayed due to the detached annotation',
  },
} satisfies Readonly<Record<string, MetricForm>>

export type MetricName = keyof typeof METRICS
export type MetricLabels = Readonly<Record<string, string>>

/** Values of one set of labels. */
interface MetricSeries {
  labels: MetricLabels
  count: number
  sum: number
  /** Values up to each limit. */
  below: number[]
}

/** Counts of BareMetal Operator since it started. */
export class OperatorMetrics {
  readonly #series = new Map<MetricName, Map<string, MetricSeries>>()

  constructor() {
    for (const name of Object.keys(METRICS) as MetricName[]) {
      this.#series.set(name, new Map())
      if (!formOf(name).labels) this.#seriesOf(name, {})
    }
  }

  count(name: MetricName, labels: MetricLabels = {}): void {
    this.#seriesOf(name, labels).count++
  }

  /** @param value in the unit of the metric: seconds */
  observe(name: MetricName, labels: MetricLabels, value: number): void {
    const series = this.#seriesOf(name, labels)
    series.count++
    series.sum += value
    const { buckets = [] } = formOf(name)
    series.below = buckets.map((limit, index) => (series.below[index] ?? 0) + (value <= limit ? 1 : 0))
  }

  /** The metrics as Prometheus reads them: text/plain, version 0.0.4. */
  text(): string {
    const names = [...this.#series.keys()].sort()
    const lines = names.flatMap((name) => {
      const series = [...this.#series.get(name)!.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
      if (series.length === 0) return []
      const { help, buckets } = formOf(name)
      const heading = [`# HELP ${name} ${help}`, `# TYPE ${name} ${buckets ? 'histogram' : 'counter'}`]
      return [...heading, ...series.flatMap(([, each]) => seriesLines(name, each))]
    })
    return `${lines.join('\n')}\n`
  }

  #seriesOf(name: MetricName, labels: MetricLabels): MetricSeries {
    const known = this.#series.get(name)!
    const key = labelText(labels)
    const found = known.get(key)
    if (found) return found
    const created: MetricSeries = { labels, count: 0, sum: 0, below: [] }
    known.set(key, created)
    return created
  }
}

const formOf = (name: MetricName): MetricForm => METRICS[name]

function seriesLines(name: MetricName, { labels, count, sum, below }: MetricSeries): string[] {
  const { buckets } = formOf(name)
  if (!buckets) return [`${name}${labelText(labels)} ${count}`]
  const limits = buckets.map(
    (limit, index) => `${name}_bucket${labelText({ ...labels, le: `${limit}` })} ${below[index]}`,
  )
  return [
    ...limits,
    `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${labelText(labels)} ${sum}`,
    `${name}_count${labelText(labels)} ${count}`,
  ]
}

/** `{host="worker-0",namespace="metal3"}`: by the names of the labels, `le` as the last; empty without labels. */
function labelText(labels: MetricLabels): string {
  const rank = (name: string): string => (name === 'le' ? '~' : name)
  const names = Object.keys(labels).sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
  if (names.length === 0) return ''
  return `{${names.map((name) => `${name}="${escapeLabel(labels[name]!)}"`).join(',')}}`
}

const escapeLabel = (text: string): string =>
  text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`)
