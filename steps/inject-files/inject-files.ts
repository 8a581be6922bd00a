import { defined, errorChain } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { defineStep } from '../sdk/define-step.js'
import { withMounted, withMountedForWriting } from '../hardware/mounted.js'
import { partitionPath, readPartitions } from '../hardware/read-partitions.js'
import { chooseWritableRoot } from '../hardware/writable-root.js'
import { runToEnd, runCommand } from '../sdk/run-command.js'
import { schemaCheck, type SchemaCheck } from '../../base/schemas/index.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { fetchSmall } from '../write-image/image-source.js'

interface InjectedFile {
  path: string
  partition?: number | string
  content?: string
  deleted?: boolean
  mode?: number | string
  dirmode?: number | string
}

const mode = { type: ['integer', 'string'], pattern: '^(0o)?[0-7]{1,4}$', minimum: 0, maximum: 0o7777 }
const injectedFilesShape: SchemaCheck<InjectedFile[]> = schemaCheck({
  type: 'array',
  items: {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', minLength: 1 },
      partition: { type: ['integer', 'string'] },
      content: { type: 'string' },
      deleted: { type: 'boolean' },
      mode,
      dirmode: mode,
    },
  },
})

/** Writes files to the filesystems of the root device; files of the node's properties come first. */
export const injectFiles = defineStep<{ files?: JsonObject[]; verify_ca?: unknown }>({
  name: 'inject_files',
  interface: 'deploy',
  on: ['deploy', 'service'],
  abortableOn: [],
  args: {
    properties: {
      files: {
        type: 'array',
        items: { type: 'object' },
        description:
          "Files to inject, a list of file structures with keys: 'path' (path to the file), 'partition' (partition specifier), 'content' (base64 encoded string), 'mode' (new file mode) and 'dirmode' (mode for the leaf directory, if created). Merged with the values from node.properties[inject_files].",
      },
      verify_ca: {
        type: ['boolean', 'string'],
        description: 'Whether to verify TLS certificates. Global agent options are used by default.',
      },
    },
  },
  run: async (context, args) => {
    const wanted = [...readFiles(propertyOf(context)), ...readFiles(args.files ?? [])]
    if (wanted.length === 0) {
      context.logger('info', 'there are no files to inject')
      return null
    }
    const device = await chooseWritableRoot(context)
    for (const file of wanted) {
      const partition = await findPartition(context, device.name, file)
      context.progress.stage(`writing ${file.path} to ${partition}`)
      try {
        await withMountedForWriting(context.target, partition, context.logger, (folder) =>
          inject(context, folder, file),
        )
      } catch (error) {
        context.signal.throwIfAborted()
        throw error instanceof StepError
          ? error
          : new StepError(`injecting ${file.path} into ${partition}: ${errorChain(error).join(': ')}`, { cause: error })
      }
    }
    return null
  },
})

function propertyOf({ node }: StepContext): unknown {
  const properties = node['properties']
  return (typeof properties === 'object' && properties !== null && (properties as JsonObject)['inject_files']) || []
}

function readFiles(value: unknown): InjectedFile[] {
  if (!injectedFilesShape.accepts(value)) {
    const [error] = injectedFilesShape.errors()
    throw new StepError(
      `the files to inject cannot be used: ${error?.instancePath || 'they'} ${error?.message ?? 'are wrong'}`,
    )
  }
  const escaping = value.find(({ path }) => path.split('/').includes('..'))
  if (escaping) throw new StepError(`the path ${escaping.path} of a file to inject leads out of its partition`)
  return value
}

/** The partition that the file names, or else the first one that has the top folder of the file's path. */
async function findPartition({ target, logger }: StepContext, disk: string, file: InjectedFile): Promise<string> {
  const { partitions } = await readPartitions(target, disk)
  const names = partitions.map(({ name }) => name)
  if (file.partition !== undefined) {
    const specifier = String(file.partition)
    const wanted = /^\d+$/.test(specifier)
      ? partitionPath(disk, Number(specifier))
      : (partitions.find(({ label, partitionLabel }) => label === specifier || partitionLabel === specifier)?.name ??
        specifier)
    if (names.includes(wanted)) return wanted
    // Partitions of other disks are refused: the policy allows the root device only.
    throw injectTargetError(`${disk} has no partition ${specifier}, to which ${file.path} is to be written`)
  }
  const first = file.path.split('/').find((part) => part !== '')!
  for (const { name, filesystem } of partitions) {
    if (filesystem === null) continue
    const has = await withMounted(target, name, logger, async (folder) => {
      const { exit } = await runToEnd(target.executor, ['test', '-d', `${folder}/${first}`], { effect: 'reads' })
      return exit.kind === 'exited' && exit.code === 0
    }).catch(() => false)
    if (has) return name
  }
  throw injectTargetError(
    `no partition of ${disk} has a folder ${first}, where ${file.path} is to be written; name the partition`,
  )
}

const injectTargetError = (details: string) => new StepError(details, { type: 'DeviceNotFound' })

async function inject(context: StepContext, folder: string, file: InjectedFile): Promise<void> {
  const { target, signal } = context
  const run = (argv: [string, ...string[]], stdin?: Uint8Array) =>
    runCommand(target.executor, argv, { effect: 'writes', signal, ...defined({ stdin }) })
  const path = `${folder}/${file.path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')}`
  if (file.deleted) {
    await run(['rm', '-rf', path])
    return
  }
  const parent = path.slice(0, path.lastIndexOf('/'))
  await run(['mkdir', '-p', '-m', octal(file.dirmode ?? 0o755), parent])
  const content = file.content ?? ''
  const bytes = /^https?:\/\//.test(content) ? await fetchSmall(context, content) : Buffer.from(content, 'base64')
  await run(['dd', `of=${path}`, 'bs=1M', 'iflag=fullblock', 'status=none'], bytes)
  await run(['chmod', octal(file.mode ?? 0o644), path])
}

const octal = (mode: number | string) =>
  (typeof mode === 'number' ? mode.toString(8) : mode.replace(/^0o/, '')).padStart(4, '0')
