/** DecoratedClass is a class that a decorator of ours was put on, so that the start can name one that no module provides. */
export interface DecoratedClass {
  /** decorator is what is written in the source, such as `@JobHandler(mail.send)`. */
  readonly decorator: string;
  /** isDuty: what waits for this class is the scheduler, not the runner. */
  readonly isDuty?: boolean;
  /** kind is set where jobs of a kind wait without this class. */
  readonly kind?: string;
  readonly target: Named;
}

/** Named is a class. */
type Named = object & { readonly name: string };

type Remembered = Omit<DecoratedClass, 'target'> & { readonly target: WeakRef<Named> };

/** A decorator sees no application: the classes of the whole program are here, each for as long as somebody else has it. */
let remembered: Remembered[] = [];

/** decoratedClasses answers the classes that are still there. */
export function decoratedClasses(): DecoratedClass[] {
  return remembered.flatMap(({ target, ...rest }) => {
    const alive = target.deref();
    return alive ? [{ ...rest, target: alive }] : [];
  });
}

/** rememberDecorated keeps a class weakly. */
export function rememberDecorated({ target, ...rest }: DecoratedClass): void {
  remembered = remembered.filter((other) => other.target.deref() !== undefined);
  remembered.push({ ...rest, target: new WeakRef(target) });
}
