import { useMemo, useState } from 'preact/hooks'
import { FAULT_CHOICES, type EffectMember, type FaultChoice } from '../../../control/index.js'
import { runWithNotice } from '../parts/notices.js'
import { curlOf, makeLabClient } from '../state/page-connection.js'
import { conditionsFor, faultOf, routesFor, type FormTexts } from '../state/fault-form.js'
import { readFaults, rows } from '../state/lab-state.js'

/** A few words for conditions. */
const CONDITION_WORDS: Readonly<Record<string, string>> = {
  node: 'name or uuid',
  machine: 'id of a machine',
  state: 'provision state',
  step: 'step of the agent',
  phase: 'phase of the node',
  route: 'call, or the start of its path',
  to: 'server of the exchange',
  program: 'name of a program',
  disk: 'kernel name: sda',
  image: 'container image',
  bmc: 'call of the BMC',
}

const FORM_BMC_CALLS = ['read power', 'set power', 'set boot', 'read firmware', 'change firmware', 'read hardware']
const FORM_PROGRAMS = ['coreos-installer', 'curl', 'wipefs', 'sgdisk', 'blockdev', 'partx', 'dd', 'efibootmgr']

/** Adds a fault. Inputs that could match nothing beside the others are not there. */
export function FaultForm({ onDone }: { onDone: () => void }) {
  const [kind, setKind] = useState('agent-silent')
  const [texts, setTexts] = useState<FormTexts>({})
  const [problem, setProblem] = useState<string | null>(null)
  const choice = FAULT_CHOICES.kinds.find((one) => one.kind === kind)!
  const set = (name: string, value: string): void => setTexts({ ...texts, [name]: value })
  const document = useMemo(() => {
    try {
      return faultOf(choice, texts, FAULT_CHOICES)
    } catch {
      return null
    }
  }, [choice, texts])
  const add = async (event: Event): Promise<void> => {
    event.preventDefault()
    setProblem(null)
    try {
      faultOf(choice, texts, FAULT_CHOICES)
    } catch (error) {
      return setProblem((error as Error).message)
    }
    const isAdded = await runWithNotice(async () => {
      await makeLabClient().addFault(faultOf(choice, texts, FAULT_CHOICES))
      await readFaults()
    }, 'Added the fault.')
    if (isAdded) onDone()
  }
  return (
    <form class="fault-form" aria-label="New fault" onSubmit={(event) => void add(event)}>
      <EffectInputs choice={choice} setKind={setKind} texts={texts} set={set} />
      <ConditionInputs choice={choice} texts={texts} set={set} />
      <TimeInputs texts={texts} set={set} />
      {problem !== null && (
        <p role="alert" class="error-text">
          {problem}
        </p>
      )}
      <div class="tools">
        <button class="primary">Add</button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {document && (
        <details>
          <summary>As curl</summary>
          <pre>{curlOf({ method: 'POST', path: '/_lab/faults', body: document })}</pre>
        </details>
      )}
    </form>
  )
}

/** The texts of the form, and how one is changed. */
interface TextsProps {
  texts: FormTexts
  set: (name: string, value: string) => void
}

function EffectInputs({
  choice,
  setKind,
  texts,
  set,
}: TextsProps & { choice: FaultChoice; setKind: (kind: string) => void }) {
  return (
    <fieldset>
      <legend>Effect</legend>
      <label>
        Effect
        <select value={choice.kind} onChange={({ currentTarget }) => setKind(currentTarget.value)}>
          {FAULT_CHOICES.kinds.map(({ kind }) => (
            <option key={kind}>{kind}</option>
          ))}
        </select>
      </label>
      {choice.members.map((member) => (
        <MemberInput
          key={`${choice.kind}.${member.name}`}
          member={member}
          value={texts[`effect.${member.name}`] ?? ''}
          onInput={(value) => set(`effect.${member.name}`, value)}
        />
      ))}
    </fieldset>
  )
}

function ConditionInputs({ choice, texts, set }: TextsProps & { choice: FaultChoice }) {
  return (
    <fieldset>
      <legend>Conditions: all must hold</legend>
      {conditionsFor(choice, texts, FAULT_CHOICES).map((name) => (
        <label key={name}>
          {name}
          <ConditionInput
            name={name}
            choice={choice}
            texts={texts}
            value={texts[`match.${name}`] ?? ''}
            onInput={(value) => set(`match.${name}`, value)}
          />
        </label>
      ))}
    </fieldset>
  )
}

/** Members of a fault that say when it strikes, each with a hint. */
const TIME_MEMBERS = [
  ['times', 'how often; empty: until it is lifted'],
  ['after', 'matches that pass before it'],
  ['probability', 'above 0, at most 1'],
  ['from', 'lab time since the start: 10m'],
  ['to', '1h'],
  ['label', 'any text'],
] as const

function TimeInputs({ texts, set }: TextsProps) {
  return (
    <fieldset>
      <legend>When</legend>
      {TIME_MEMBERS.map(([name, hint]) => (
        <label key={name}>
          {name}
          <input
            placeholder={hint}
            value={texts[name] ?? ''}
            inputMode={name === 'times' || name === 'after' ? 'numeric' : undefined}
            onInput={({ currentTarget }) => set(name, currentTarget.value)}
          />
        </label>
      ))}
    </fieldset>
  )
}

interface InputProps {
  readonly value: string
  readonly onInput: (value: string) => void
}

function MemberInput({ member, value, onInput }: InputProps & { member: EffectMember }) {
  const { name, isRequired, schema } = member
  const options = schema['enum'] as readonly string[] | undefined
  return (
    <label>
      {name}
      {options ? (
        <select value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
          <option value="">as usual</option>
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : (
        <input
          required={isRequired}
          placeholder={`${(schema['description'] as string | undefined) ?? ''}`.replace(/^a length of lab time: /, '')}
          value={value}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </label>
  )
}

function ConditionInput({
  name,
  choice,
  texts,
  value,
  onInput,
}: InputProps & { name: string; choice: FaultChoice; texts: FormTexts }) {
  const closed: Readonly<Record<string, readonly string[]>> = {
    state: FAULT_CHOICES.states,
    phase: FAULT_CHOICES.phases,
    to: choice.asked,
  }
  const open = (): readonly string[] => {
    // A list of ten thousand would make the page slow; names can be typed.
    const some = rows.list().slice(0, 500)
    if (name === 'node') return some.filter(({ isNode }) => isNode).map((row) => row.name)
    if (name === 'machine') return some.flatMap(({ machine }) => machine ?? [])
    if (name === 'route') return routesFor(choice, texts, FAULT_CHOICES)
    if (name === 'bmc') return FORM_BMC_CALLS
    return name === 'program' ? FORM_PROGRAMS : name === 'step' ? ['install_coreos', 'erase_devices_metadata'] : []
  }
  const options = closed[name]
  if (options)
    return (
      <select value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    )
  return (
    <>
      <input
        list={`known-${name}`}
        placeholder={CONDITION_WORDS[name]}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <datalist id={`known-${name}`}>
        {open().map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </>
  )
}
