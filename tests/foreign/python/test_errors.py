"""Every refusal, with its details decoded."""

import grpc
import pytest
from cases import ERRORS, solve_many_request, solve_request
from connection import TIMEOUT, Connection, details


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case["name"])
def test_error(server, case):
    answers = []
    with Connection(server) as connection:
        with pytest.raises(grpc.RpcError) as failure:
            if case["method"] == "Solve":
                connection.sudoku.Solve(solve_request(**case["requests"][0]), timeout=TIMEOUT)
            else:
                requests = [solve_many_request(**fields) for fields in case["requests"]]
                answers.extend(connection.sudoku.SolveMany(iter(requests), timeout=TIMEOUT))

    code, found = details(failure.value)
    assert code == case["code"]
    assert (found["ErrorInfo"].domain, found["ErrorInfo"].reason) == ("sudoku.v1", case["reason"])
    assert dict(found["ErrorInfo"].metadata) == case["metadata"]
    violations = found["BadRequest"].field_violations if "BadRequest" in found else []
    assert [violation.field for violation in violations] == case.get("fields", [])
    assert len(answers) == case.get("answers", 0)
