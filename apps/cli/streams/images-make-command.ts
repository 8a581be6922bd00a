import { Option, type Command } from 'commander'
import type { CoreosName, LiveArchitecture } from '../../../coreos/index.js'
import { repeatableOption } from '../installer/customize-options.js'
import type { AddAction } from '../command-action.js'

export interface ImagesMakeFlags {
  version: string
  arch?: LiveArchitecture[]
  directory: string
  name?: CoreosName
  baseUrl: string
  force?: boolean
  json?: boolean
}

/** Adds `images make`, beside `images serve`. */
export function addImagesMakeCommand(program: Command, addAction: AddAction): void {
  const images = program.commands.find((one) => one.name() === 'images')!
  addAction(
    images
      .command('make')
      .description('make small images of a version of CoreOS: live ISO, files for PXE, disk image, stream.json')
      .requiredOption('--version <VERSION>', 'version of the images, such as 44.20260707.3.1 or 9.6.20260112-0')
      .addOption(repeatableOption('-a, --arch <ARCH>', 'x86_64 (default), aarch64, ppc64le or s390x'))
      .addOption(
        new Option(
          '--name <NAME>',
          "system that the version is of (default: fcos or rhcos, by the version's form)",
        ).choices([...(['fcos', 'rhcos', 'scos'] satisfies CoreosName[])]),
      )
      .option('-C, --directory <DIR>', 'folder to write to, made when it is missing', '.')
      .option(
        '--base-url <URL>',
        'URL of that folder in stream.json; stream serve puts its own',
        'https://images.invalid/',
      )
      .option('--force', 'replace files that exist')
      .option('--json', 'print JSON'),
    async () => {
      const { imagesMake } = await import('./images-make-actions.js')
      return (_, flags: ImagesMakeFlags, environment) => imagesMake(flags, environment)
    },
  )
}
