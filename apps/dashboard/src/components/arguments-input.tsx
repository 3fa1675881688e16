import { JsonInput } from '@mantine/core';

interface ArgumentsInputProps {
  readonly description?: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** The arguments of a call as JSON, to be changed by a person. */
export function ArgumentsInput(props: ArgumentsInputProps) {
  return (
    <JsonInput
      label="Arguments"
      {...props}
      validationError="This is not JSON yet"
      formatOnBlur
      autosize
      minRows={8}
      maxRows={24}
      styles={{ input: { fontFamily: 'var(--app-mono)', fontSize: 13 } }}
      data-autofocus
    />
  );
}
