import type { Command } from 'commander'
import { addFetchOptions, addReleaseOptions, type FetchFlags, RELEASE_OPERAND } from './fetch-options.js'
import type { AddAction } from '../command-action.js'
import { PLATFORM_WORDS } from '../options/value-words.js'

export interface GenerateFlags extends FetchFlags {
  stream?: string
  architecture?: string
  baseUrl?: string
  ignition?: string
  directory?: string
  runtime: string
}

export interface InfoFlags extends FetchFlags {
  baseUrl?: string
  json?: boolean
}

/** Adds `boot-image` and its commands. */
export function addBootImageCommands(program: Command, addAction: AddAction): void {
  const root = program.command('boot-image').description('make and describe boot images of machines and clouds')
  addAction(
    addFetchOptions(root.command('generate').description('print where a boot image is, or fetch and customise it'))
      .argument('[RELEASE]', `${RELEASE_OPERAND}; without, --stream is used`)
      .argument('[PLATFORM]', PLATFORM_WORDS.join(', '))
      .usage('[options] [RELEASE] PLATFORM')
      .option('-s, --stream <STREAM>', 'name, URL or file of a stream')
      .option('-a, --architecture <ARCH>', "as uname -m says (default: this host's)")
      .option('--base-url <URL>', 'where the builds of the release are published')
      .option('--ignition <FILE>', 'config for the live system of baremetal-iso and baremetal-pxe')
      .option('-C, --directory <DIR>', 'fetch the files into this folder')
      .option('--runtime <KIND>', 'how images are made: published, as they come; nothing is built here', 'published'),
    async () => {
      const { bootImageGenerate } = await import('./boot-image-actions.js')
      return ([first, second], flags: GenerateFlags, environment) => {
        // The release may be left out, which commander does not know of operands that come first.
        const [release, platform] = (second === undefined ? [undefined, first] : [first, second]) as (
          string | undefined
        )[]
        return bootImageGenerate(release, platform ?? '(no platform)', flags, environment)
      }
    },
  )
  addAction(
    addReleaseOptions(
      root.command('info').description('print the boot images of a release and the differences between its sources'),
    )
      .argument('<RELEASE>', RELEASE_OPERAND)
      .option('--base-url <URL>', 'where the builds of the release are published')
      .option('--json', 'print JSON'),
    async () => {
      const { bootImageReport } = await import('./boot-image-actions.js')
      return ([release], flags: InfoFlags, environment) => bootImageReport(release as string, flags, environment)
    },
  )
}
