import { away, enrol, FAKES, get, idOf, led, verb, type Script } from '../script.js'

/** Settings of the BIOS that a step cannot use, and what is said of them. */
export function driverStepArguments(): Script[] {
  const apply = (args: Readonly<Record<string, unknown>>) => ({ interface: 'bios', step: 'apply_configuration', args })
  const settings = [
    ...['told', 7, null, {}, [], ['told'], [7], [{}], [{ name: 'a' }], [{ value: 'told' }]],
    ...[[{ name: 'a', value: 'told' }], [{ name: 7, value: null }]],
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
        verb(node, 'clean', { clean_steps: [step] }),
        get(`/v1/nodes/${node}/bios`),
        get(`/v1/nodes/${node}/history?detail=true`),
        ...away(name),
      ],
    }
  })
}
