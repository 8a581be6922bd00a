import { expect, test } from 'vitest'
import { parseIgnition } from './parse.js'

const iso = Buffer.alloc(40_960)
iso.write('CD001', 32_769)
const machineConfig = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  spec: { config: { ignition: { version: '3.4.0' } } },
}

test.each([
  ['an ISO image', iso, 'ignition-iso', /^Run ironstage iso ignition show/],
  ['a MachineConfig', JSON.stringify(machineConfig), 'ignition-machine-config', /^Run jq \.spec\.config/],
  [
    'a MachineConfig in YAML',
    '# ours\napiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nspec:\n  config: {}\n',
    'ignition-machine-config',
    /^Run yq -o json \.spec\.config/,
  ],
  ['a kickstart', 'lang en_US\nclearpart --all\n%packages\n@core\n%end\n', 'ignition-kickstart', /butane --strict/],
  ['user data for cloud-init', '#cloud-config\nusers: []\n', 'ignition-cloud-config', /butane --strict/],
  ['a Butane file', 'variant: fcos\nversion: 1.5.0\n', 'ignition-butane', /^butane --strict/],
])('%s is named, with what to run', (_, input, code, remedy) => {
  expect(() => parseIgnition(input)).toThrow(
    expect.objectContaining({ code, remedy: expect.stringMatching(remedy) as string }),
  )
})

test.each([
  ['{"ignition": {"version": "3.4.0"},}', 'line 1, column 35'],
  ['{\n  "ignition": x\n}', 'line 2, column 15'],
  ['{"ignition": {"version": "3.4.0"}', 'it ends at line 1, column 34'],
  ['hello', 'line 1, column 1'],
  ['{"a": "é", b}', 'line 1, column 12'],
])('the first syntax error of %j has a place', (text, place) => {
  expect(() => parseIgnition(text)).toThrow(`the Ignition config is not JSON (${place})`)
  expect(() => parseIgnition(Buffer.from(text))).toThrow(place)
})
