import { defineStep } from '../sdk/define-step.js'
import { bootMode } from '../hardware/boot-mode.js'
import { parseBootMenu, type BootEntry } from '../hardware/efi.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError } from '../sdk/step.js'

/** Patterns of entries that point at a disk's own boot loader, as in ironic-python-agent. */
const INSTALLED_SYSTEMS = ['^HD\\(', 'shim.*\\.efi', 'grub.*\\.efi']

/** Deletes the firmware's boot entries that match, by default those of installed systems. */
export const cleanUefiNvram = defineStep<{ match_patterns?: string | string[] }>({
  name: 'clean_uefi_nvram',
  interface: 'deploy',
  on: ['clean', 'deploy'],
  abortable: true,
  args: {
    properties: {
      match_patterns: {
        description:
          'Json blob contains a list of regex patterns where any UEFI NVRAM entry matching that pattern will be deleted. Default value is \'["^HD\\(", "shim.*\\.efi", "grub.*\\.efi"]\'',
        type: ['string', 'array'],
        items: { type: 'string' },
      },
    },
  },
  run: async ({ target, logger, signal }, { match_patterns: patternsOrJson = INSTALLED_SYSTEMS }) => {
    const patterns = compile(patternsOrJson)
    if ((await bootMode(target.executor)) !== 'uefi') {
      logger('info', `${target.name} was not booted by UEFI: there are no boot entries to delete`)
      return null
    }
    if (!target.has('efi-variables'))
      throw new StepError(`${target.name} does not allow its EFI variables to be changed`)
    const { entries } = parseBootMenu(
      (await runCommand(target.executor, ['efibootmgr', '-v'], { effect: 'reads' })).stdout,
    )
    for (const entry of entries.filter((candidate) => matches(candidate, patterns))) {
      logger('info', `deleting the boot entry ${entry.number}, ${entry.label}`, { path: entry.path })
      await runCommand(target.executor, ['efibootmgr', '-b', entry.number, '-B'], { effect: 'writes', signal })
    }
    return null
  },
})

const matches = ({ path, label }: BootEntry, patterns: readonly RegExp[]) =>
  patterns.some((pattern) => pattern.test(path) || pattern.test(`${label} ${path}`))

function compile(patternsOrJson: string | string[]): RegExp[] {
  const patterns: unknown = typeof patternsOrJson === 'string' ? parseMatchPatterns(patternsOrJson) : patternsOrJson
  if (!Array.isArray(patterns) || !patterns.every((pattern) => typeof pattern === 'string'))
    throw new StepError('match_patterns must be a list of regular expressions')
  return patterns.map((pattern) => {
    try {
      return new RegExp(pattern, 'i')
    } catch (cause) {
      throw new StepError(`match_patterns has ${JSON.stringify(pattern)}, which is no regular expression`, { cause })
    }
  })
}

function parseMatchPatterns(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new StepError('match_patterns is a text that is not JSON', { cause })
  }
}
