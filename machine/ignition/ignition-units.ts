import type { SpecUnit } from '../../ignition/index.js'
import { parentFolderOf, newFile, newLink } from '../root/root-tree.js'
import { makeIgnitionFolders, type EntriesWork } from './filesystem-entries.js'
import { goQuoted, IgnitionFailure } from './ignition-log.js'
import { joinPath, SYSROOT } from './tree-paths.js'
import { disableUnit, isEnabledUnit } from './unit-links.js'

const UNITS = '/etc/systemd/system'
export const PRESET = '/etc/systemd/system-preset/20-ignition.preset'

interface Preset {
  unit: string
  enabled: boolean
  instances: string[] | null
}

/** Writes units and drop-ins, masks units, and writes the preset that systemd applies at its first start. */
export async function createUnits(work: EntriesWork, units: readonly SpecUnit[]): Promise<void> {
  const presets = new Map<string, Preset>()
  for (const unit of units) {
    await writeUnit(work, unit)
    if (unit.enabled !== undefined) addPreset(presets, unit.name!, unit.enabled)
    if (unit.mask !== undefined) await setMask(work, unit.name!, unit.mask)
  }
  for (const [, { unit, enabled, instances }] of [...presets].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const line = instances ? `${unit} ${instances.join(' ')}` : unit
    await work.log.operation(`setting preset to ${enabled ? 'enabled' : 'disabled'} for ${goQuoted(line)}`, () =>
      enabled ? appendPreset(work, `enable ${line}`) : disable(work, line),
    )
  }
}

function writeUnit(work: EntriesWork, { name = '', contents, dropins = [] }: SpecUnit): Promise<void> {
  const { tree, log } = work
  const write = (what: string, path: string, text: string) =>
    log.operation(`${what} at ${goQuoted(SYSROOT + joinPath(tree, path))}`, () => {
      const real = joinPath(tree, path)
      makeIgnitionFolders(tree, parentFolderOf(real))
      const old = tree.lstat(real)
      if (old?.kind === 'directory')
        throw new IgnitionFailure(`rename ${SYSROOT}${parentFolderOf(real)}/tmp ${SYSROOT}${real}: file exists`)
      tree.put(real, newFile(Buffer.from(text)))
    })
  return log.operation(`processing unit ${goQuoted(name)}`, async () => {
    for (const dropin of dropins)
      if (dropin.contents !== undefined)
        await write(
          `writing systemd drop-in ${goQuoted(dropin.name!)}`,
          `${UNITS}/${name}.d/${dropin.name}`,
          dropin.contents,
        )
    if (contents) await write(`writing unit ${goQuoted(name)}`, `${UNITS}/${name}`, contents)
  })
}

function addPreset(presets: Map<string, Preset>, name: string, enabled: boolean): void {
  const state = enabled ? 'enabled' : 'disabled'
  const at = name.indexOf('@')
  if (at < 0) {
    presets.set(`${name}-${state}`, { unit: name, enabled, instances: null })
    return
  }
  const dot = name.lastIndexOf('.')
  const template = name.slice(0, at + 1) + name.slice(dot)
  const known = presets.get(`${template}-${state}`)
  const instance = name.slice(at + 1, dot)
  if (known?.instances) known.instances.push(instance)
  else presets.set(`${template}-${state}`, { unit: template, enabled, instances: [instance] })
}

async function setMask({ tree, log }: EntriesWork, name: string, mask: boolean): Promise<void> {
  const path = joinPath(tree, `${UNITS}/${name}`)
  if (mask)
    await log.operation(`masking unit ${goQuoted(name)}`, () => {
      makeIgnitionFolders(tree, parentFolderOf(path))
      tree.put(path, newLink('/dev/null'))
    })
  else {
    const node = tree.lstat(path)
    if (node?.kind === 'link' && node.target === '/dev/null')
      await log.operation(`unmasking unit ${goQuoted(name)}`, () => tree.remove(path))
  }
}

/** Disables a unit that is enabled. */
async function disable(work: EntriesWork, line: string): Promise<void> {
  if (!isEnabledUnit(work.tree, line)) return
  await work.log.operation(`removing enablement symlink(s) for ${goQuoted(line)}`, () => disableUnit(work.tree, line))
  appendPreset(work, `disable ${line}`)
}

function appendPreset({ tree }: EntriesWork, line: string): void {
  const path = joinPath(tree, PRESET)
  makeIgnitionFolders(tree, parentFolderOf(path))
  const old = tree.stat(path)
  if (old?.kind === 'file') old.bytes = Buffer.concat([old.bytes, Buffer.from(`${line}\n`)])
  else tree.put(path, newFile(Buffer.from(`${line}\n`)))
}
