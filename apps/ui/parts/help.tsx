import { keysShown } from './page-keys.js'
import { Modal } from './modal.js'

export function Help() {
  return (
    <Modal label="Keys">
      <h2>Keys</h2>
      <dl class="keys">
        <dt>
          <kbd>Ctrl</kbd>+<kbd>K</kbd>
        </dt>
        <dd>find a node, a page or a command</dd>
        {keysShown.value.map(({ key, does }) => (
          <>
            <dt>
              <kbd>{key === ' ' ? 'Space' : key}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>close a dialog</dd>
      </dl>
    </Modal>
  )
}
