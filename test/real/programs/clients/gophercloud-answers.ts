import { expect } from 'vitest'

const rest = { error: '' }

/** Objects that the scenario `lifecycle` prints after the first; the MAC is that of the machine's first port. */
export const lifecycleAnswers = (mac: string): readonly object[] => [
  { state: 'enroll', ...rest },
  { state: 'manageable', power: 'power off', ...rest },
  { status: 404 },
  { state: 'manageable', ...rest },
  {
    mac,
    frequency: expect.stringMatching(/^[\d.]+$/),
    interfaces: expect.any(Number),
    cpus: expect.any(Number),
    memory: expect.any(Number),
    disks: expect.any(Number),
  },
  { state: 'manageable', ...rest },
  { state: 'available', ...rest },
  { boot: { result: true }, deploy: { result: true } },
  { state: 'active', power: 'power on', ...rest },
  { state: 'available', ...rest },
  { status: 404 },
]

/** Objects that the scenario `hardware` prints after the first. */
export const HARDWARE_ANSWERS: readonly object[] = [
  { asked: 'power on', power: 'power on', error: '' },
  { asked: 'soft rebooting', power: 'power on', error: '' },
  { asked: 'rebooting', power: 'power on', error: '' },
  { asked: 'soft power off', power: 'power off', error: '' },
  { device: 'cdrom', persistent: true, supported: expect.arrayContaining(['pxe', 'disk', 'cdrom']) },
  { media: expect.arrayContaining([expect.objectContaining({ inserted: true, image: expect.any(String) })]) },
  {
    setting: { name: expect.any(String), value: expect.any(String), attribute_type: expect.any(String) },
    components: expect.arrayContaining(['bios', 'bmc']),
  },
  { methods: ['POST'], destination: 'https://events.invalid/', members: 1 },
  { vifs: 0 },
]
