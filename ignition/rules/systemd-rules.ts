import type { ConfigPath, Findings } from '../findings.js'
import { goQuoted } from '../json/read-json.js'
import type { SpecConfig, SpecDropin, SpecUnit } from '../spec/config-types.js'
import { extensionOf } from './path-rules.js'
import { readUnitFile } from './unit-file.js'

const EXTENSIONS = [
  '.service',
  '.socket',
  '.device',
  '.mount',
  '.automount',
  '.swap',
  '.target',
  '.path',
  '.timer',
  '.snapshot',
  '.slice',
  '.scope',
]

export function checkUnit({ name = '', contents, enabled }: SpecUnit, at: ConfigPath, found: Findings): void {
  found.error([...at, 'name'], EXTENSIONS.includes(extensionOf(name)) ? null : 'invalid systemd unit extension')
  const file = contents === undefined ? null : readUnitFile(contents)
  const where = [...at, 'contents']
  if (file && 'problem' in file) found.error(where, `invalid unit content: ${file.problem}`)
  else if (enabled === true && file && contents && !file.sections.has('Install'))
    found.warning(where, `unit ${goQuoted(name)} is enabled, but has no install section so enable does nothing`)
}

export function checkDropin({ name = '', contents }: SpecDropin, at: ConfigPath, found: Findings): void {
  const file = contents === undefined ? null : readUnitFile(contents)
  found.error([...at, 'contents'], file && 'problem' in file ? `invalid unit content: ${file.problem}` : null)
  found.error([...at, 'name'], extensionOf(name) === '.conf' ? null : 'invalid systemd drop-in extension')
}

/** Checks that the template of an enabled instance can be enabled. */
export function checkInstances({ units = [] }: SpecConfig['systemd'] & object, at: ConfigPath, found: Findings): void {
  const byName = new Map(units.map((unit) => [unit.name ?? '', unit]))
  for (const [index, { name = '', enabled }] of units.entries()) {
    const prefix = enabled === true ? /^(.+?)@(.+?)\.service$/.exec(name)?.[1] : undefined
    if (prefix === undefined) continue
    const template = `${prefix}@.service`
    const contents = byName.get(template)?.contents
    const file = contents ? readUnitFile(contents) : null
    if (file && !('problem' in file) && !file.sections.has('Install'))
      found.warning(
        [...at, 'units', index, 'contents'],
        `template unit ${goQuoted(template)} for ${goQuoted(name)} doesn't have Install section`,
      )
  }
}
