import { away, enrol, FAKES, get, idOf, led, put, type Script } from '../script.js'

const FIELDS = ['provision_state', 'last_error', 'maintenance_reason', 'fault']

/** Settings of the BIOS that a step cannot use, and what is said of them. */
export function driverStepArguments(): Script[] {
  const apply = (args: Readonly<Record<string, unknown>>) => ({ interface: 'bios', step: 'apply_configuration', args })
  const settings = [
    'told',
    7,
    null,
    {},
    [],
    ['told'],
    [7],
    [{}],
    [{ name: 'a' }],
    [{ value: 'told' }],
    [{ name: 'a', value: 'told' }],
    [{ name: 7, value: null }],
  ]
  const all = [...settings.map((value) => ({ settings: value })), {}, { settings: [], more: 'told' }]
  const update = { interface: 'firmware', step: 'update', args: {} }
  return [...all.map(apply), update].map((step, index) => {
    const name = `step-arguments-${index}`
    const node = idOf(name)
    return {
      name: `arguments of ${JSON.stringify(step)}`,
      calls: [
        enrol(name, FAKES),
        led(node, 'manage'),
        {
          ...put(`/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: [step] }),
          // Ironic sometimes keeps the reservation of refused steps for a moment.
          settle: `/v1/nodes/${node}?fields=${['reservation', 'target_power_state', ...FIELDS].join(',')}`,
        },
        get(`/v1/nodes/${node}/bios`),
        get(`/v1/nodes/${node}/history?detail=true`),
        ...away(name),
      ],
    }
  })
}
