import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const run = promisify(execFile)

interface Step {
  id?: string
  if?: string
  uses?: string
  with?: Record<string, string>
  env?: Record<string, string>
  shell?: string
  run?: string
}

interface Action {
  inputs?: Record<string, { default?: string }>
  outputs?: Record<string, { value: string }>
  runs: { steps: Step[] }
}

interface Scope {
  inputs: Record<string, string>
  steps: Record<string, { outputs: Record<string, string> }>
}

/** A step of another owner, with its inputs: it is noted and not run. */
export interface ForeignStep {
  uses: string
  with: Record<string, string>
}

/**
 * Runs the steps of a job of GitHub on this computer, those of composite actions of the checkout too: expressions, outputs,
 * the variables of a job, `if`, and a status that a failed step changes.
 */
export class GithubRunner {
  readonly foreign: ForeignStep[] = []
  readonly printed: string[] = []
  readonly #checkout: string
  readonly #folder: string
  readonly #variables: Record<string, string>
  #files = 0
  #status: 'success' | 'failure' = 'success'

  constructor(checkout: string, folder: string, variables: Readonly<Record<string, string>>) {
    this.#checkout = checkout
    this.#folder = folder
    this.#variables = { ...variables }
  }

  async runJob(workflow: string, job: string): Promise<'success' | 'failure'> {
    const text = await readFile(join(this.#checkout, workflow), 'utf8')
    const { jobs } = parse(text) as { jobs: Record<string, { steps: Step[] }> }
    await this.#runSteps(jobs[job]!.steps, { inputs: {}, steps: {} }, this.#checkout)
    return this.#status
  }

  async #runSteps(steps: readonly Step[], scope: Scope, actionPath: string): Promise<void> {
    for (const step of steps) {
      if (!this.#isWanted(step, scope)) continue
      try {
        const outputs = await this.#runStep(step, scope, actionPath)
        if (step.id) scope.steps[step.id] = { outputs }
      } catch (error) {
        this.printed.push(String(error))
        this.#status = 'failure'
      }
    }
  }

  /** For the compiler, which does not know that steps change it. */
  #statusNow(): 'success' | 'failure' {
    return this.#status
  }

  #isWanted({ if: condition = 'success()' }: Step, scope: Scope): boolean {
    const always = /\b(always|failure|success)\(\)/.test(condition)
    return Boolean(this.#evaluate(always ? condition : `success() && (${condition})`, scope))
  }

  async #runStep(step: Step, scope: Scope, actionPath: string): Promise<Record<string, string>> {
    if (step.uses?.startsWith('./')) return this.#runAction(step.uses, this.#fillIn(step.with, scope))
    if (step.uses !== undefined) {
      this.foreign.push({ uses: step.uses, with: this.#fillIn(step.with, scope) })
      return {}
    }
    return this.#runScript(step, scope, actionPath)
  }

  async #runAction(uses: string, wanted: Record<string, string>): Promise<Record<string, string>> {
    const path = join(this.#checkout, uses)
    const action = parse(await readFile(join(path, 'action.yml'), 'utf8')) as Action
    const defaults = Object.entries(action.inputs ?? {}).map(
      ([name, { default: value = '' }]) => [name, value] as const,
    )
    const scope: Scope = { inputs: { ...Object.fromEntries(defaults), ...wanted }, steps: {} }
    const before = this.#status
    // Steps of an action see the status of the action, not that of the job.
    this.#status = 'success'
    await this.#runSteps(action.runs.steps, scope, path)
    const ended = this.#statusNow()
    this.#status = before
    if (ended === 'failure') throw new Error(`${uses} has failed`)
    const outputs = Object.entries(action.outputs ?? {}).map(([name, { value }]) => [name, this.#filled(value, scope)])
    return Object.fromEntries(outputs) as Record<string, string>
  }

  async #runScript(step: Step, scope: Scope, actionPath: string): Promise<Record<string, string>> {
    const outputFile = await this.#emptyFile('output')
    const envFile = await this.#emptyFile('env')
    const env = {
      ...this.#variables,
      ...this.#fillIn(step.env, scope),
      GITHUB_ACTION_PATH: actionPath,
      GITHUB_OUTPUT: outputFile,
      GITHUB_ENV: envFile,
    }
    const script = this.#filled(step.run!, scope)
    const { stdout, stderr } = await run('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: this.#folder, env })
    this.printed.push(stdout, stderr)
    Object.assign(this.#variables, namesAndValues(await readFile(envFile, 'utf8')))
    return namesAndValues(await readFile(outputFile, 'utf8'))
  }

  async #emptyFile(name: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true })
    const path = join(this.#folder, `${name}-${this.#files++}`)
    await writeFile(path, '')
    return path
  }

  #fillIn(texts: Record<string, string> = {}, scope: Scope): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.#filled(text, scope)]))
  }

  #filled(text: string, scope: Scope): string {
    return text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) =>
      String(this.#evaluate(expression, scope) ?? ''),
    )
  }

  /** Expressions of these files are JavaScript but for names with a dash. */
  #evaluate(expression: string, { inputs, steps }: Scope): unknown {
    const code = expression.replace(/\.(\w+(?:-\w+)+)/g, "['$1']")
    const names = {
      inputs,
      steps,
      job: { status: this.#status },
      always: () => true,
      failure: () => this.#status === 'failure',
      success: () => this.#status === 'success',
    }
    return (new Function(...Object.keys(names), `return ${code}`) as (...values: unknown[]) => unknown)(
      ...Object.values(names),
    )
  }
}

const namesAndValues = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([^=\n]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]))
