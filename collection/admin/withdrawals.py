"""Withdrawals for stewards: those without a code wait here for a decision. The package imports it."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from collection.models import Withdrawal
from collection.withdrawal import withdraw
from wwd.base.admin_lists import BigList
from wwd.base.text import count_noun


class DecisionFilter(admin.SimpleListFilter):
    title = "decision"
    parameter_name = "decision"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("waiting", "waits for a steward"), ("decided", "decided")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
        waiting = {"undone_at": None, "erase_after": None}
        if self.value() == "waiting":
            return queryset.filter(**waiting)
        return queryset.exclude(**waiting) if self.value() == "decided" else queryset


@admin.register(Withdrawal)
class WithdrawalAdmin(BigList):
    """*Confirm*: the dish goes, as if its contributor had used the code. *Restore*: it is shown as before."""

    list_display = ("dish", "reason", "former_state", "at", "erase_after", "undone_at", "erased_at")
    list_filter = (DecisionFilter, "reason")
    list_select_related = ("dish",)
    actions = ("confirm", "restore")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Withdrawal | None = None) -> list[str]:
        return [field.name for field in Withdrawal._meta.fields]

    @admin.action(description="Confirm: erase after seven days", permissions=["change"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Withdrawal]) -> None:
        self.report_change(request, withdraw.confirm_withdrawals(queryset))

    @admin.action(description="Restore: show it as before", permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Withdrawal]) -> None:
        """Only what nobody took back with a code: what its contributor took back, they alone bring back."""
        without_code = queryset.filter(reason__in=[Withdrawal.Reason.LOST_CODE, Withdrawal.Reason.STEWARD])
        self.report_change(request, sum(withdraw.restore_withdrawn_dish(row) for row in without_code))

    def report_change(self, request: HttpRequest, number: int) -> None:
        message = count_noun(number, "%(number)d withdrawal decided.", "%(number)d withdrawals decided.")
        self.message_user(request, message % {"number": number})
